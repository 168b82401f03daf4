// Without the store or the rows, a count fails and its requests get `store_unavailable`; the next request counts again.
import { inTime } from '../async/in-time';
import { type Budget, homeOf, type MemberBudget, periodOf, readBudgets } from './budgets';
import type { AdmitRequest, RebuildSource } from './hot-store';
import { storeUnavailable } from './store-unavailable';

/** A budget whose count has begun. */
export interface OpenedBudget extends Pick<Budget, 'id' | 'span' | 'owner' | 'version'> {
  /** Index of the period that is counted. */
  readonly period: number;
  /** Requests whose settlements the store books itself. */
  readonly openRequests: readonly string[];
}

/** Until it is closed, the store admits nobody under these budgets. */
export interface OpenedCount {
  readonly budgets: readonly OpenedBudget[];
  /** Records that were queued before and may belong to one of the budgets, in batches. */
  queued(): AsyncIterable<readonly string[]>;
  /** Says that the count goes on: without it for `VOID_MS`, another process counts. */
  beat(): Promise<unknown>;
  /** Adds the spend of the rows; from here on the store knows the budget. */
  close(budget: OpenedBudget, spentNanoUsd: number): Promise<void>;
}

/** Begins to count those of the budgets that the store doesn't know; null while another process counts one of them. */
export type OpenCount = (projectId: string, budgets: readonly MemberBudget[]) => Promise<OpenedCount | null>;

/** A count without a beat for so long is void: its process died. */
export const VOID_MS = 2_000;
const BEAT_MS = 500;
/** While another process counts: the pause, and the longest wait. */
const PAUSE_MS = 20;
const WAIT_MS = 5_000;
/** A request waits no longer for a count, which goes on. */
const LONGEST_MS = 10_000;

/**
 * Counts the spend of budgets that the store doesn't know: new ones in a running period, and all after lost data. The
 * period's spend is that of the rows, the queue and the open requests.
 */
export class BudgetCounts {
  /** Set at the start. */
  source: RebuildSource | undefined;
  private readonly running = new Map<string, Promise<void>>();

  constructor(private readonly open: OpenCount) {}

  /** Resolves when the request is worth asking again. A budget has one count at a time. */
  count({ projectId, budgets }: AdmitRequest): Promise<unknown> {
    const nameOf = ({ id }: Budget) => `${homeOf(id, projectId)} ${id}`;
    const list = budgets === undefined ? [] : readBudgets(budgets);
    const own = list.filter((budget) => !this.running.has(nameOf(budget)));
    const run = this.run(projectId, own)
      .catch((cause: unknown) => {
        throw storeUnavailable('the spend of a budget cannot be counted', cause);
      })
      .finally(() => {
        for (const budget of own) this.running.delete(nameOf(budget));
      });
    for (const budget of own) this.running.set(nameOf(budget), run);
    return inTime(Promise.all([run, ...list.map((budget) => this.running.get(nameOf(budget)))]), LONGEST_MS, () => {
      throw storeUnavailable('the spend of a budget is still being counted');
    });
  }

  private async run(projectId: string, budgets: readonly Budget[]): Promise<void> {
    const { source } = this;
    if (budgets.length === 0) return;
    if (source === undefined) throw new Error('the store is not started');
    const withMembers = await Promise.all(budgets.map((budget) => withMembersOf(budget, source)));
    const opened = await this.openInTime(projectId, withMembers);
    if (opened.budgets.length === 0) return;
    const beats = setInterval(() => void opened.beat().catch(() => clearInterval(beats)), BEAT_MS);
    try {
      await this.sumUp(projectId, opened, source);
    } finally {
      clearInterval(beats);
    }
  }

  private async sumUp(projectId: string, opened: OpenedCount, source: RebuildSource): Promise<void> {
    for await (const records of opened.queued()) if (records.length > 0) await source.storeRecords(records);
    for (const budget of opened.budgets) {
      const { owner, span, period, openRequests: except } = budget;
      const spentNanoUsd = await source.sumBudget({ projectId, owner, ...periodOf(span, period), except });
      await opened.close(budget, spentNanoUsd);
    }
  }

  private async openInTime(projectId: string, budgets: readonly MemberBudget[]): Promise<OpenedCount> {
    const deadlineMs = performance.now() + WAIT_MS;
    for (;;) {
      const opened = await this.open(projectId, budgets);
      if (opened !== null) return opened;
      if (performance.now() > deadlineMs) throw new Error('another process counts it');
      await Bun.sleep(PAUSE_MS);
    }
  }
}

async function withMembersOf(budget: Budget, source: RebuildSource): Promise<MemberBudget> {
  const { owner } = budget;
  if (owner.scope === 'share') return { ...budget, members: new Set([owner.projectId]) };
  return 'levelId' in owner ? { ...budget, members: await source.membersOf(owner) } : budget;
}
