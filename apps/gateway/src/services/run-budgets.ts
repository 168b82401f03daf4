// Postgres unreachable: runs that this process knows go on for a second; then their requests get `store_unavailable`.
import { GatewayError, runStopped } from '@llm0/core/errors/gateway-error';
import type { Principal } from '@llm0/core/keys/api-key';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Db } from '@llm0/drizzle/client';
import { hasRuns, openRun, pauseRun, runRows, type StoredRun } from '@llm0/drizzle/queries/limits/runs';
import { LRUCache } from 'lru-cache';

/** A run as its requests name it. */
export interface NamedRun {
  readonly principal: Principal;
  readonly runId: string;
  /** `X-LLM0-Run-Budget-Usd` in nano-USD. */
  readonly wantedNanoUsd: number | undefined;
}

export interface WatchedCall {
  /** Fires when the caller leaves, or the run is stopped. */
  readonly signal: AbortSignal;
  readonly unwatch: () => void;
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
  /** Until when a project is known to have no run with a budget. */
  private readonly without = new LRUCache<string, number>({ max: MOST_KNOWN });
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
    const budgetNanoUsd = budgetOf(principal, wantedNanoUsd);
    if (known !== undefined && known.untilMs > this.options.clock.monotonicMs()) {
      if (known.run !== null || budgetNanoUsd === undefined) return known.run;
    }
    const at = { projectId: project.id, runId };
    if (budgetNanoUsd !== undefined) return this.open({ ...at, apiKeyId: key.id, budgetNanoUsd });
    // Many name their runs only to find their rows.
    if (await this.hasNone(project.id)) return null;
    return this.load(name, (db) => runRows.get(db, at));
  }

  private async open(asked: Parameters<typeof openRun>[1]): Promise<StoredRun | null> {
    let isNew = false;
    const run = await this.load(nameOf(asked.projectId, asked.runId), async (db) => {
      const opened = await openRun(db, asked);
      isNew = opened.isNew;
      return opened.run;
    });
    if (isNew) await this.tell(asked);
    return run;
  }

  private async hasNone(projectId: string): Promise<boolean> {
    const nowMs = this.options.clock.monotonicMs();
    if ((this.without.get(projectId) ?? 0) > nowMs) return true;
    if (await this.read((db) => hasRuns(db, projectId))) return false;
    this.without.set(projectId, nowMs + KNOWN_MS);
    return true;
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

  /** A call's signal and the end of its watch: the caller's own, if the run has no budget. */
  signalFor({
    projectId,
    runId,
    signal,
  }: {
    projectId: string;
    runId: string | undefined;
    signal: AbortSignal;
  }): WatchedCall {
    if (runId === undefined || !this.has(projectId, runId)) return { signal, unwatch: () => {} };
    const stop = new AbortController();
    return { signal: AbortSignal.any([signal, stop.signal]), unwatch: this.watch(projectId, runId, stop) };
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
    const name = nameOf(projectId, runId);
    this.expire(name);
    // Without the hot store no request is admitted; then all read it anew.
    await this.options.hotStore.notify(`${TOPIC} ${name}`).catch(() => undefined);
  }

  /** The next request reads it anew; that it has a budget stays known. */
  private expire(name: string): void {
    const known = this.known.get(name);
    if (known !== undefined) this.known.set(name, { ...known, untilMs: 0 });
  }

  private async changed(name: string): Promise<void> {
    this.expire(name);
    const [projectId = '', runId = ''] = name.split(' ');
    this.without.delete(projectId);
    if (!this.calls.has(name)) return;
    const run = await this.load(name, (db) => runRows.get(db, { projectId, runId })).catch(() => null);
    if (run?.stoppedAtMs == null) return;
    for (const call of [...(this.calls.get(name) ?? [])]) call.abort(runStopped(runId));
  }

  private async load(name: string, find: (db: Db) => Promise<StoredRun | null>): Promise<StoredRun | null> {
    const run = await this.read(find);
    this.known.set(name, { run, untilMs: this.options.clock.monotonicMs() + KNOWN_MS });
    return run;
  }

  private async read<T>(find: (db: Db) => Promise<T>): Promise<T> {
    try {
      return await find(this.options.db);
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
