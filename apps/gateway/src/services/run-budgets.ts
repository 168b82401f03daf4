// Postgres unreachable: runs that this process knows go on for a second; then their requests get `store_unavailable`.
import { GatewayError, runStopped } from '@llm0/core/errors/gateway-error';
import type { Principal } from '@llm0/core/keys/api-key';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Db } from '@llm0/drizzle/client';
import { openRun, pauseRun, runRows, type StoredRun } from '@llm0/drizzle/queries/limits/runs';
import { LRUCache } from 'lru-cache';

/** A run as its requests name it. */
export interface NamedRun {
  readonly principal: Principal;
  readonly runId: string;
  /** `X-LLM0-Run-Budget-Usd` in nano-USD. */
  readonly wantedNanoUsd: number | undefined;
}

interface Known {
  readonly run: StoredRun | null;
  readonly untilMs: number;
}

const MOST_KNOWN = 10_000;
/** Changes are told at once; this bounds what a lost message may cost. */
const KNOWN_MS = 1000;
const TOPIC = 'run';

interface Options {
  readonly db: Db;
  readonly hotStore: Pick<HotStore, 'notify' | 'onNotify'>;
  readonly clock: { readonly nowMs: () => number; readonly monotonicMs: () => number };
}

/** Runs with a budget, as all processes agree on them. */
export class RunBudgets {
  private readonly known = new LRUCache<string, Known>({ max: MOST_KNOWN });
  /** Calls under way, by run. */
  private readonly calls = new Map<string, Set<AbortController>>();

  constructor(private readonly options: Options) {
    options.hotStore.onNotify((topic) => {
      if (topic.startsWith(`${TOPIC} `)) void this.changed(topic.slice(TOPIC.length + 1));
    });
  }

  /** The run of a request. The first one that wants a budget makes it; null = it has none. */
  async find({ principal, runId, wantedNanoUsd }: NamedRun): Promise<StoredRun | null> {
    const { key, project } = principal;
    const name = nameOf(project.id, runId);
    const known = this.known.get(name);
    if (known !== undefined && known.untilMs > this.options.clock.monotonicMs()) {
      if (known.run !== null || wantedNanoUsd === undefined) return known.run;
    }
    const budgetNanoUsd = budgetOf(principal, wantedNanoUsd);
    const at = { projectId: project.id, runId };
    return this.load(name, (db) =>
      budgetNanoUsd === undefined ? runRows.get(db, at) : openRun(db, { ...at, apiKeyId: key.id, budgetNanoUsd }),
    );
  }

  /** True if the run has a budget, as far as this process knows. */
  has(projectId: string, runId: string): boolean {
    return this.known.get(nameOf(projectId, runId))?.run != null;
  }

  /** Aborts the call once the run is stopped; returns the end of that. */
  watch(projectId: string, runId: string, call: AbortController): () => void {
    const name = nameOf(projectId, runId);
    if (!this.has(projectId, runId)) return () => {};
    const calls = this.calls.getOrInsertComputed(name, () => new Set());
    calls.add(call);
    return () => {
      calls.delete(call);
      if (calls.size === 0 && this.calls.get(name) === calls) this.calls.delete(name);
    };
  }

  /** As it is in Postgres right now. */
  reload({ id, projectId, runId }: StoredRun): Promise<StoredRun | null> {
    return this.load(nameOf(projectId, runId), (db) => runRows.get(db, { id }));
  }

  /** Notes that its budget refused a request. */
  async pause(run: StoredRun): Promise<void> {
    if (run.pausedAtMs !== null) return;
    await pauseRun(this.options.db, run.id, this.options.clock.nowMs());
    await this.tell(run);
  }

  /** Makes a change of it known to all processes. */
  async tell({ projectId, runId }: Pick<StoredRun, 'projectId' | 'runId'>): Promise<void> {
    this.known.delete(nameOf(projectId, runId));
    await this.options.hotStore.notify(`${TOPIC} ${nameOf(projectId, runId)}`);
  }

  private async changed(name: string): Promise<void> {
    this.known.delete(name);
    if (!this.calls.has(name)) return;
    const [projectId = '', runId = ''] = name.split(' ');
    const run = await this.load(name, (db) => runRows.get(db, { projectId, runId })).catch(() => null);
    if (run?.stoppedAtMs == null) return;
    for (const call of [...(this.calls.get(name) ?? [])]) call.abort(runStopped(runId));
  }

  private async load(name: string, read: (db: Db) => Promise<StoredRun | null>): Promise<StoredRun | null> {
    try {
      const run = await read(this.options.db);
      this.known.set(name, { run, untilMs: this.options.clock.monotonicMs() + KNOWN_MS });
      return run;
    } catch (cause) {
      const message = "The run's budget can't be read right now. Retry shortly.";
      throw new GatewayError('store_unavailable', message, { retryAfterMs: 1000, cause });
    }
  }
}

const nameOf = (projectId: string, runId: string) => `${projectId} ${runId}`;

/** What the request asks for, else what the key gives; never more than the key's runs may have. */
function budgetOf({ key }: Principal, wantedNanoUsd: number | undefined): number | undefined {
  const most = key.maxRunBudgetNanoUsd ?? Number.POSITIVE_INFINITY;
  const budget = Math.min(wantedNanoUsd ?? key.defaultRunBudgetNanoUsd ?? most, most);
  return Number.isFinite(budget) ? budget : undefined;
}
