// Without the store or the rows, a count fails and its requests get `store_unavailable`; the next request counts again.
import { type Budget, periodOf, type RequestBudgets } from './budgets';
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
  /** Records of the project that were queued before, in batches. */
  queued(): AsyncIterable<readonly string[]>;
  /** Adds the spend of the rows; from here on the store knows the budget. */
  close(budget: OpenedBudget, spentNanoUsd: number): Promise<void>;
}

/** Begins to count those of the budgets that the store doesn't know; null while another process counts one of them. */
export type OpenCount = (projectId: string, budgets: RequestBudgets) => Promise<OpenedCount | null>;

/** While another process counts: the pause, and the longest wait. */
const PAUSE_MS = 20;
const WAIT_MS = 5_000;

/**
 * Counts the spend of budgets that the store doesn't know: new ones in a running period, and all after lost data. The
 * period's spend is that of the rows, the queue and the open requests.
 */
export class BudgetCounts {
  /** Set at the start. */
  source: RebuildSource | undefined;
  private readonly running = new Map<string, Promise<void>>();

  constructor(private readonly open: OpenCount) {}

  /** Resolves when the request is worth asking again. A project has one count at a time. */
  count({ projectId, budgets }: AdmitRequest): Promise<void> {
    const known = this.running.get(projectId);
    if (known !== undefined) return known;
    const run = this.run(projectId, budgets)
      .catch((cause: unknown) => {
        throw storeUnavailable('the spend of a budget cannot be counted', cause);
      })
      .finally(() => this.running.delete(projectId));
    this.running.set(projectId, run);
    return run;
  }

  private async run(projectId: string, budgets: RequestBudgets | undefined): Promise<void> {
    const { source } = this;
    if (source === undefined || budgets === undefined) throw new Error('the store is not started');
    const opened = await this.openInTime(projectId, budgets);
    if (opened.budgets.length === 0) return;
    for await (const records of opened.queued()) if (records.length > 0) await source.storeRecords(records);
    for (const budget of opened.budgets) {
      const { owner, span, period, openRequests: except } = budget;
      const spentNanoUsd = await source.sumBudget({ projectId, owner, ...periodOf(span, period), except });
      await opened.close(budget, spentNanoUsd);
    }
  }

  private async openInTime(projectId: string, budgets: RequestBudgets): Promise<OpenedCount> {
    const deadlineMs = performance.now() + WAIT_MS;
    for (;;) {
      const opened = await this.open(projectId, budgets);
      if (opened !== null) return opened;
      if (performance.now() > deadlineMs) throw new Error('another process counts it');
      await Bun.sleep(PAUSE_MS);
    }
  }
}
