// Replays an alert's condition minute by minute over stored data, as the job would have checked it, with current
// budgets.
import {
  burnRate,
  isMet,
  isWindowed,
  shortWindowMinutes,
  WINDOW_VALUES,
  type WindowedKind,
  type WindowSums,
} from '@llm0/core/alerts/condition';
import { Firings } from '@llm0/core/alerts/firings';
import type { Replay, ReplayQuery } from '@llm0/core/alerts/replay';
import { addHistogram, type Histogram, histogramQuantile } from '@llm0/core/logs/histogram';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import type { Db } from '../../../client';
import { listGuardrailHits } from '../../guardrails/guardrail-stats';
import { listFailedJobs } from '../../logs/system-logs';
import { loadMinutes, type MinuteSums } from './minutes';
import { PROVIDER_ANSWERS } from './questions';
import { replayAnomaly } from './replay-anomaly';
import { replayBudgets } from './replay-budgets';

const MINUTE_MS = 60_000;

export async function replayAlert(db: Db, query: ReplayQuery): Promise<Replay> {
  const { kind } = query;
  if (isWindowed(kind)) return replayWindow(db, { ...query, kind });
  if (kind === 'error_budget_burn') return replayBurn(db, query);
  if (kind === 'spend_anomaly') return replayAnomaly(db, query);
  if (kind === 'budget_share') return replayBudgets(db, query);
  return replayMoments(query, await MOMENTS[kind === 'guardrail_hits' ? kind : 'job_failed'](db, query));
}

/** Over a long window and a short one. */
async function replayBurn(db: Db, query: ReplayQuery): Promise<Replay> {
  const { fromMs, toMs, nowMs, projectId } = query;
  const longMs = query.windowMinutes * MINUTE_MS;
  const { minutes, readFromMs } = await loadMinutes(db, { fromMs: fromMs - longMs, toMs, nowMs, projectId });
  const startMs = Math.max(fromMs, readFromMs + longMs);
  const firings = new Firings();
  const long = new SlidingWindow(minutes, longMs);
  const short = new SlidingWindow(minutes, shortWindowMinutes(query) * MINUTE_MS);
  await eachInSlices(checksOf(startMs, toMs), (atMs) => {
    const sums = long.at(atMs, (all) => all);
    const value = short.at(atMs, (recent) => burnRate(query, sums, recent));
    firings.check(atMs, isMet(query, value), value);
  });
  return { fromMs: Math.min(startMs, toMs), firings: firings.firings, highest: firings.highest };
}

async function replayWindow(db: Db, query: ReplayQuery & { readonly kind: WindowedKind }): Promise<Replay> {
  const { kind, fromMs, toMs, nowMs, projectId } = query;
  const windowMs = query.windowMinutes * MINUTE_MS;
  const isOfLatency = kind === 'latency_p95';
  const counted = isOfLatency ? PROVIDER_ANSWERS : {};
  const range = { ...counted, fromMs: fromMs - windowMs, toMs, nowMs, projectId };
  const { minutes, readFromMs } = await loadMinutes(db, range, isOfLatency);
  const startMs = Math.max(fromMs, readFromMs + windowMs);
  const firings = new Firings();
  const window = new SlidingWindow(minutes, windowMs);
  await eachInSlices(checksOf(startMs, toMs), (atMs) => {
    const value = window.at(atMs, WINDOW_VALUES[kind]);
    firings.check(atMs, isMet(query, value), value);
  });
  return { fromMs: Math.min(startMs, toMs), firings: firings.firings, highest: firings.highest };
}

/** Enough for every threshold; older data than the newest of them isn't replayed. */
const MOST_HITS = 100_000;

interface Moments {
  /** Oldest first. */
  readonly times: readonly number[];
  /** The first moment that was read. */
  readonly readFromMs: number;
  /** Events at the moment of a check count in it. */
  readonly isClosed: boolean;
}

const MOMENTS = {
  job_failed: async (db: Db, { fromMs, toMs, windowMinutes }: ReplayQuery): Promise<Moments> => {
    const readFromMs = fromMs - windowMinutes * MINUTE_MS;
    return { times: await listFailedJobs(db, { fromMs: readFromMs, toMs }), readFromMs, isClosed: true };
  },
  guardrail_hits: async (db: Db, { fromMs, toMs, windowMinutes, projectId }: ReplayQuery): Promise<Moments> => {
    const readFromMs = fromMs - windowMinutes * MINUTE_MS;
    const times = await listGuardrailHits(db, { fromMs: readFromMs, toMs, projectId, limit: MOST_HITS });
    const since = times.length < MOST_HITS ? readFromMs : (times[0] ?? readFromMs);
    return { times, readFromMs: since, isClosed: false };
  },
} as const;

/** Counts events in a moving window. */
async function replayMoments(query: ReplayQuery, { times, readFromMs, isClosed }: Moments): Promise<Replay> {
  const { toMs } = query;
  const windowMs = query.windowMinutes * MINUTE_MS;
  const fromMs = Math.max(query.fromMs, Math.ceil((readFromMs + windowMs) / MINUTE_MS) * MINUTE_MS);
  const firings = new Firings();
  let begin = 0;
  let end = 0;
  await eachInSlices(checksOf(fromMs, toMs), (atMs) => {
    const untilMs = isClosed ? atMs : atMs - 1;
    while (end < times.length && (times[end] ?? 0) <= untilMs) end++;
    while (begin < end && (times[begin] ?? 0) < atMs - windowMs) begin++;
    firings.check(atMs, isMet(query, end - begin), end - begin);
  });
  return { fromMs, firings: firings.firings, highest: firings.highest };
}

function* checksOf(fromMs: number, toMs: number): Generator<number> {
  for (let atMs = fromMs; atMs <= toMs; atMs += MINUTE_MS) yield atMs;
}

/** Sums of the minutes in a window that moves on: each minute is added and taken away once. */
class SlidingWindow {
  private begin = 0;
  private end = 0;
  private success = 0;
  private failures = 0;
  private costNanoUsd = 0;
  private readonly latency: Histogram = new Map();

  constructor(
    private readonly minutes: readonly MinuteSums[],
    private readonly windowMs: number,
  ) {}

  at<T>(toMs: number, measure: (sums: WindowSums) => T): T {
    for (
      let next = this.minutes[this.end];
      next !== undefined && next.startMs < toMs;
      next = this.minutes[++this.end]
    ) {
      this.add(next, 1);
    }
    for (
      let first = this.minutes[this.begin];
      first !== undefined && first.startMs < toMs - this.windowMs;
      first = this.minutes[++this.begin]
    ) {
      this.add(first, -1);
    }
    const { success, failures, costNanoUsd, latency } = this;
    return measure({ success, failures, costNanoUsd, p95Ms: histogramQuantile(latency, 0.95) });
  }

  private add({ success, failures, costNanoUsd, latency }: MinuteSums, sign: 1 | -1): void {
    this.success += sign * success;
    this.failures += sign * failures;
    this.costNanoUsd += sign * costNanoUsd;
    if (latency !== undefined) addHistogram(this.latency, latency, sign);
  }
}
