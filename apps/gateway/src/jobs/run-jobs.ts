// Without Postgres, the leader steps down and jobs pause; the next lock holder continues.
import { interruptibleSleep } from '@llm0/core/async/interruptible-sleep';
import type { HotStore } from '@llm0/core/limits/hot-store';
import { drainNow, type LogDrain } from '@llm0/core/logs/log-drain';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import { noObserver, type RecordObserver } from '@llm0/core/tracing/span';
import type { Database, LedWork } from '@llm0/drizzle/client';
import { findLogProblem } from '@llm0/drizzle/queries/clickhouse/create-log-engine';
import { addSystemLog } from '@llm0/drizzle/queries/logs/system-logs';
import { rootMessage } from '@llm0/drizzle/sql-state';
import { checkAlerts } from './check-alerts';
import { checkProviders } from './check-providers';
import { cleanUp, type Retention } from './clean-up';
import { createLogDrain, createLogSink } from './drain-logs';
import { forgetRuns } from './forget-runs';
import { indexPartitions } from './index-partitions';
import type { Job, JobContext, RowStore } from './job';
import { maintainPartitions } from './maintain-partitions';
import { reapHolds } from './reap-holds';
import { reconcileLedgerJob } from './reconcile-ledger';
import { rollOver } from './roll-over';
import { readStores, watchStores } from './watch-stores';

/** Interval for taking and confirming the lock. */
const ELECTION_MS = 2_000;
/** The first runs are spread out after the start. */
const FIRST_RUN_MS = 1_000;

export interface RunningJobs {
  /** Stops after the runs in progress and a last drain, and lets another gateway lead. */
  stop(): Promise<void>;
  /** Does this process run this work right now? */
  readonly leading: (work?: LedWork) => boolean;
}

/** Metrics of jobs. */
export interface JobMetrics {
  readonly recordsStored: { inc(records: number): void };
  readonly jobRuns: { inc(labels: { job: string; outcome: string }): void };
  readonly jobMs: { observe(labels: { job: string }, ms: number): void };
}

/** The part of the running services that jobs need. */
export interface JobServices {
  readonly services: Pick<JobContext, 'log'> & {
    readonly hotStore: JobContext['hotStore'] & Pick<HotStore, 'health'>;
    readonly clock: { nowMs(): number };
    readonly config: Retention & {
      /** false (DISABLE_BACKGROUND_WORKERS): no maintenance; the log is none of them. */
      readonly backgroundWorkers?: boolean;
      readonly testing?: Pick<JobContext, 'lingerMs'>;
    };
    readonly postWebhook: (url: string, body: object) => Promise<void>;
    readonly metrics?: JobMetrics;
    readonly observer?: RecordObserver;
    /** State of targets, for alerts. */
    readonly health?: { list(): readonly TargetStatus[] };
    /** Callers' files. */
    readonly files?: { readonly remove: (id: string) => Promise<void> };
    /** Asks providers whether they work. */
    readonly providerChecks?: { run(): void };
  };
  readonly database: Pick<Database, 'db' | 'tryLead' | 'stopLeading' | 'ping'>;
  readonly rows?: RowStore;
  /** Jobs of other parts, beside the maintenance. */
  readonly moreJobs?: readonly Job[];
}

/** Starts the jobs; of all gateways on one database, one runs each kind. Resolves once the first election is over. */
export async function startJobs({ services, database, rows, moreJobs = [] }: JobServices): Promise<RunningJobs> {
  const { hotStore, log, clock, config, metrics, postWebhook, observer = noObserver } = services;
  const context: JobContext = {
    ...{ db: database.db, hotStore, log, nowMs: () => clock.nowMs(), observer, rows },
    lingerMs: config.testing?.lingerMs,
    onDrained: (records) => metrics?.recordsStored.inc(records),
    onRun: (job, outcome, ms) => {
      metrics?.jobRuns.inc({ job, outcome });
      metrics?.jobMs.observe({ job }, ms);
    },
  };
  const ping = () => database.ping();
  const stores = readStores({ hotStore, ping, logProblem: () => findLogProblem(database.db) });
  const works: Record<LedWork, Work> = {
    ledger: { jobs: [reapHolds, maintainPartitions, rollOver], drains: true },
    maintenance: {
      jobs: [
        ...[cleanUp({ ...config, removeFile: services.files?.remove }), forgetRuns(config)],
        reconcileLedgerJob,
        checkAlerts(services.postWebhook, () => services.health?.list() ?? [], stores),
        indexPartitions,
        checkProviders(() => services.providerChecks?.run()),
        ...moreJobs,
      ],
      drains: false,
    },
  };
  const wanted: readonly LedWork[] = config.backgroundWorkers === false ? ['ledger'] : ['ledger', 'maintenance'];
  const stopped = new AbortController();
  const terms = new Map<LedWork, Term>();
  const elect = async (work: LedWork) => {
    const leads = await database.tryLead(work).catch(() => false);
    const term = terms.get(work);
    if (leads && term === undefined) terms.set(work, new Term(context, works[work]));
    if (leads || term === undefined) return;
    terms.delete(work);
    await term.end();
  };
  await Promise.all(wanted.map(elect));
  const leads = () => terms.has('maintenance');
  const own = { db: database.db, hotStore, ping, postWebhook, nowMs: context.nowMs, leads };
  const watch = watchStores(own, stopped.signal);
  // Each in its own loop: the end of one term waits for its jobs, the other election doesn't.
  const elections = wanted.map(async (work) => {
    while (!stopped.signal.aborted) {
      await interruptibleSleep(ELECTION_MS, stopped.signal);
      if (!stopped.signal.aborted) await elect(work);
    }
  });
  return {
    leading: (work = 'ledger') => terms.has(work),
    async stop() {
      stopped.abort();
      await Promise.all([...elections, watch]);
      await Promise.all([...terms.values()].map((term) => term.end()));
      if (terms.has('ledger')) await drainNow(hotStore, createLogSink(context)).catch(() => {});
      await database.stopLeading();
    },
  };
}

interface Work {
  readonly jobs: readonly Job[];
  /** True if this process also drains the log. */
  readonly drains: boolean;
}

/** The time during which this process runs the jobs. */
class Term {
  private readonly ended = new AbortController();
  private readonly context: JobContext;
  private readonly drain: LogDrain | undefined;
  private readonly loops: Promise<void>[];

  constructor(context: JobContext, { jobs, drains }: Work) {
    this.context = { ...context, signal: this.ended.signal };
    this.drain = drains ? createLogDrain(context) : undefined;
    this.drain?.start();
    this.loops = jobs.map((job, index) => this.repeat(job, FIRST_RUN_MS * (index + 1)));
  }

  async end(): Promise<void> {
    this.ended.abort();
    await Promise.all([this.drain?.stop(), ...this.loops]);
  }

  private async repeat(job: Job, firstMs: number): Promise<void> {
    const { signal } = this.ended;
    await interruptibleSleep(Math.min(firstMs, job.intervalMs), signal);
    let failure: string | null = null;
    while (!signal.aborted) {
      failure = await runJob(job, this.context, failure);
      await interruptibleSleep(job.intervalMs, signal);
    }
  }
}

/**
 * Runs a job and writes its row in `system_logs`, except for a repeated failure. Never throws. Returns the failure's
 * message or null.
 */
export async function runJob(job: Job, context: JobContext, lastFailure: string | null): Promise<string | null> {
  const startMs = performance.now();
  const record = async (outcome: 'ok' | 'error', message: string, metadata = {}) => {
    const durationMs = performance.now() - startMs;
    await addSystemLog(context.db, { eventType: job.name, outcome, durationMs, message, metadata });
  };
  try {
    const outcome = await job.run(context);
    const counted = outcome === null ? 'idle' : outcome.ok === false ? 'error' : 'ok';
    context.onRun?.(job.name, counted, performance.now() - startMs);
    if (outcome !== null) await record(outcome.ok === false ? 'error' : 'ok', outcome.message, outcome.metadata);
    return null;
  } catch (err) {
    const message = rootMessage(err);
    context.onRun?.(job.name, 'error', performance.now() - startMs);
    if (message === lastFailure) return message;
    context.log.warn({ err, job: job.name }, 'a job failed');
    await record('error', message).catch(() => {});
    return message;
  }
}
