import type { Log } from '../../api/logs';
import { formatMs } from '../../format/format-number';
import { formatTarget } from '../../format/format-target';

export type StepKind =
  | 'gateway'
  | 'attempt'
  | 'failed'
  | 'cancelled'
  | 'skipped'
  | 'wait'
  | 'generation'
  | 'exact'
  | 'semantic'
  | 'unknown';

/** One step of a request; milliseconds since the request's start. */
export interface Step {
  readonly kind: StepKind;
  readonly name: string;
  readonly detail: string;
  readonly startMs: number;
  readonly ms: number;
  /** Steps below another one are indented; absent = 0. */
  readonly depth?: number;
}

export interface Waterfall {
  /** In the order of their starts. They fill the whole time; only hedged attempts overlap. */
  readonly steps: readonly Step[];
  readonly wholeMs: number;
  /** Round times of the axis, from 0. */
  readonly ticks: readonly number[];
  /** Parts that the row doesn't tell. */
  readonly note: string | null;
}

export type Timed = Pick<
  Log,
  | 'latency_ms'
  | 'ttft_ms'
  | 'overhead_ms'
  | 'attempts'
  | 'cache_hit'
  | 'semantic_cache_hit'
  | 'stream'
  | 'dialect'
  | 'status'
  | 'error_code'
>;

type Attempt = NonNullable<Log['attempts']>[number];
type Label = Pick<Step, 'kind' | 'name' | 'detail'>;
type Found = Pick<Waterfall, 'steps' | 'note'>;

/** Shorter gaps come from rounding. */
const RESOLUTION_MS = 0.01;
/** An exact hit that waited longer for others than this joined their call. */
const JOINED_MS = 1;

/** Time of a request by step, from its row alone. */
export function prepareWaterfall(log: Timed): Waterfall {
  const wholeMs = Math.max(log.latency_ms, RESOLUTION_MS);
  const { steps, note } = findSteps(log, wholeMs);
  return { steps: steps.toSorted((a, b) => a.startMs - b.startMs), wholeMs, ticks: roundTicks(wholeMs), note };
}

export interface Parts {
  /** Providers at work, from the first byte sent to them; overlapping attempts count once. */
  readonly upstreamMs: number;
  readonly gatewayMs: number;
  /** In a queue, and in pauses before other attempts. */
  readonly waitMs: number;
}

/** Parts of a request that called providers; null for others, or where a part is unknown. */
export function prepareParts(log: Timed): Parts | null {
  if (log.attempts === null || log.attempts.every(({ outcome }) => outcome in SKIPPED)) return null;
  const { steps, wholeMs } = prepareWaterfall(log);
  const sumOf = (kind: StepKind) => steps.reduce((sum, step) => sum + (step.kind === kind ? step.ms : 0), 0);
  const [gatewayMs, waitMs] = [sumOf('gateway'), sumOf('wait')];
  return { gatewayMs, waitMs, upstreamMs: Math.max(0, wholeMs - gatewayMs - waitMs) };
}

function findSteps(log: Timed, wholeMs: number): Found {
  const single = (label: Label): Found => ({ steps: [{ ...label, startMs: 0, ms: wholeMs }], note: null });
  if (log.cache_hit || log.semantic_cache_hit) return single(labelHit(log));
  const { attempts } = log;
  if (attempts !== null && attempts.length > 0) return { steps: stepsOfAttempts(log, attempts, wholeMs), note: null };
  if (log.dialect === 'passthrough') return stepsOfPassthrough(log, wholeMs);
  return single(UNASKED);
}

const UNASKED: Label = { kind: 'gateway', name: 'Gateway', detail: 'no provider was called' };

/** Ended without an answer of a cache or a call of a provider. Pass-through keeps no attempts. */
export const isUnasked = (log: Timed): boolean =>
  log.status !== 'success' &&
  !(log.cache_hit || log.semantic_cache_hit) &&
  log.dialect !== 'passthrough' &&
  (log.attempts ?? []).every(({ outcome }) => outcome in SKIPPED);

function labelHit({ semantic_cache_hit: isSemantic, ttft_ms: firstMs, overhead_ms: ownMs }: Timed): Label {
  if (isSemantic) return { kind: 'semantic', name: 'Semantic cache', detail: 'answered without a provider' };
  return firstMs !== null && ownMs !== null && firstMs - ownMs > JOINED_MS
    ? { kind: 'exact', name: 'Identical request', detail: 'shared the answer of a call under way' }
    : { kind: 'exact', name: 'Exact cache', detail: 'answered without a provider' };
}

/** Collects steps one after the other, from the start. */
class Line {
  readonly steps: Step[] = [];
  endMs = 0;

  constructor(private readonly wholeMs: number) {}

  /** Other clocks may tell a time beyond the request. */
  within(ms: number): number {
    return Math.min(this.wholeMs, Math.max(0, ms));
  }

  add(label: Label, fromMs: number, toMs: number): void {
    const startMs = this.within(fromMs);
    const endMs = Math.max(startMs, this.within(toMs));
    this.steps.push({ ...label, startMs, ms: endMs - startMs });
    // A skipped target takes no time.
    if (label.kind !== 'skipped') this.endMs = Math.max(this.endMs, endMs);
  }

  /** The time since the last end, if there is some. */
  fill(label: Label, toMs: number): void {
    if (this.within(toMs) - this.endMs > RESOLUTION_MS) this.add(label, this.endMs, toMs);
  }
}

function stepsOfAttempts(log: Timed, attempts: readonly Attempt[], wholeMs: number): readonly Step[] {
  const line = new Line(wholeMs);
  /** The attempt that ended last: the answer's, or the last failure. */
  let last: { readonly outcome: string; readonly endMs: number } | undefined;
  line.fill({ kind: 'wait', name: 'Queue', detail: 'for a place, before the first attempt' }, queuedMs(log, attempts));
  for (const attempt of attempts.toSorted((a, b) => a.start_ms - b.start_ms)) {
    const { start_ms: startMs, outcome } = attempt;
    const endMs = startMs + attempt.latency_ms;
    const label = describeAttempt(attempt, isSentInParts(log));
    if (label.kind !== 'skipped') line.fill(gapAfter(last?.outcome, startMs - line.endMs), startMs);
    line.add(label, startMs, endMs);
    const isEnd = label.kind !== 'skipped' && outcome !== 'superseded' && endMs >= (last?.endMs ?? 0);
    if (isEnd) last = { outcome, endMs };
  }
  if (last?.outcome !== 'ok') line.fill(last === undefined ? UNASKED : labelEnd(log), wholeMs);
  else if (!isSentInParts(log)) line.fill({ ...labelEnd(log), kind: 'gateway', name: 'Gateway' }, wholeMs);
  else if (log.ttft_ms === null) line.fill(labelUnknown(log), wholeMs);
  else {
    line.fill({ kind: 'gateway', name: 'Gateway', detail: 'before the first byte' }, log.ttft_ms);
    line.fill(labelGeneration(log), wholeMs);
  }
  return line.steps;
}

/** The overhead leaves the queue out, which no column tells: the rest of the time before the first byte. */
function queuedMs({ ttft_ms: firstMs, overhead_ms: ownMs }: Timed, attempts: readonly Attempt[]): number {
  const asked = attempts.filter(({ outcome }) => !(outcome in SKIPPED));
  const answered = asked.find(({ outcome }) => outcome === 'ok');
  if (firstMs === null || ownMs === null || answered === undefined) return 0;
  const startMs = Math.min(...asked.map((attempt) => attempt.start_ms));
  const ms = firstMs - ownMs - (answered.start_ms + answered.latency_ms - startMs);
  return ms < PAUSE_MS ? 0 : Math.min(ms, startMs);
}

/** The bytes of such an answer go to the caller as they come; others at once. */
const isSentInParts = ({ stream, dialect }: Timed) => stream || ANY_BYTES.has(dialect);
const ANY_BYTES: ReadonlySet<string> = new Set(['infer', 'passthrough']);

/** A shorter gap is no pause. */
const PAUSE_MS = 1;

function gapAfter(outcome: string | undefined, ms: number): Label {
  if (outcome === undefined) return { kind: 'gateway', name: 'Gateway', detail: 'before the first attempt' };
  if (outcome === 'ok')
    return { kind: 'wait', name: 'Answer refused', detail: 'by a guardrail, before the next attempt' };
  return ms < PAUSE_MS
    ? { kind: 'gateway', name: 'Gateway', detail: 'before the next attempt' }
    : { kind: 'wait', name: 'Wait', detail: 'before the next attempt' };
}

function labelEnd(log: Timed): Label {
  if (log.status === 'aborted') return { kind: 'wait', name: 'Wait', detail: causeOf(log) };
  const what = log.status === 'success' ? 'answer' : 'error';
  return { kind: 'gateway', name: 'Gateway', detail: `${what} to the caller` };
}

const labelUnknown = (log: Timed): Label =>
  log.status === 'success'
    ? { kind: 'unknown', name: 'Answer', detail: 'its first byte was not measured' }
    : { kind: 'unknown', name: 'No byte sent', detail: causeOf(log) };

function labelGeneration(log: Timed): Label {
  const name = ANY_BYTES.has(log.dialect) ? 'Answer' : 'Generation';
  if (log.status === 'success') return { kind: 'generation', name, detail: 'first byte to the end' };
  return { kind: log.status === 'aborted' ? 'cancelled' : 'failed', name, detail: causeOf(log) };
}

const causeOf = ({ status, error_code: code }: Timed): string =>
  status === 'aborted' ? 'until the caller left' : `broke off: ${inWords(code ?? status)}`;

/** Pass-through rows have no attempts, but the first byte's time. */
function stepsOfPassthrough(log: Timed, wholeMs: number): Found {
  const line = new Line(wholeMs);
  const { ttft_ms: firstMs, overhead_ms: ownMs } = log;
  const own = ownMs === null ? '' : ` The gateway's own ${formatMs(ownMs)} are in the first bar.`;
  const note = `Pass-through keeps no attempts.${own}`;
  const name = 'Gateway and provider';
  if (firstMs === null) line.fill({ kind: 'unknown', name, detail: 'no part was measured' }, wholeMs);
  else {
    line.fill({ kind: 'attempt', name, detail: 'to the first byte' }, firstMs);
    line.fill(labelGeneration(log), wholeMs);
  }
  return { steps: line.steps, note };
}

const SKIPPED: Readonly<Record<string, string>> = {
  breaker_open: 'skipped, paused after failures',
  cooling_down: 'skipped, at its rate limit',
  drained: 'skipped, drained by the operator',
  concurrency_limit: 'skipped, as many requests under way as allowed',
  check_failed: 'skipped, its health check failed',
  context_window: 'skipped, the prompt is too long',
  max_output_tokens: 'skipped, the output limit is too high',
  no_vision: 'skipped, it takes no images',
  no_endpoint: 'skipped, it lacks this endpoint',
  unpriced: 'skipped, it has no price',
  provider_not_allowed: 'skipped, its provider is not allowed',
  session_affinity: 'skipped, the session stays with another target',
};
const OUTCOMES: Readonly<Record<string, string>> = {
  ok: 'answered',
  auth: 'key refused',
  not_found: 'model not found',
  timeout: 'timed out',
  connection: 'connection failed',
  rejected: 'request rejected',
  malformed: 'unreadable answer',
  truncated: 'answer cut off',
  superseded: 'cancelled, another attempt was faster',
  aborted: 'cancelled',
};
const CANCELLED: ReadonlySet<string> = new Set(['superseded', 'aborted']);

/** Target and outcome of an attempt. `inParts`: it lasts to the first byte of its answer. */
export function describeAttempt({ provider, model, outcome, status }: Attempt, inParts = false): Label {
  const skipped = SKIPPED[outcome];
  const words =
    skipped ?? (inParts && outcome === 'ok' ? 'to the first byte' : (OUTCOMES[outcome] ?? inWords(outcome)));
  const kind = outcome === 'ok' ? 'attempt' : CANCELLED.has(outcome) ? 'cancelled' : 'failed';
  return {
    kind: skipped === undefined ? kind : 'skipped',
    name: formatTarget({ provider, model }),
    detail: status === null ? words : `${words} (${status})`,
  };
}

const inWords = (name: string) => name.replaceAll('_', ' ');

const MINUTE_MS = 60_000;
const MOST_STEPS = 5;
const DIGITS = [1, 2, 5, 10];

/** Three to six times from 0, one, two or five tens apart; of whole minutes in a long time. */
export function roundTicks(wholeMs: number): readonly number[] {
  if (wholeMs > 3 * MINUTE_MS) return roundTicks(wholeMs / MINUTE_MS).map((minutes) => minutes * MINUTE_MS);
  const least = wholeMs / MOST_STEPS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = (DIGITS.find((digit) => digit * power >= least) ?? 10) * power;
  // Binary fractions err in the last digits.
  const count = Math.floor((wholeMs / step) * (1 + 1e-9)) + 1;
  return Array.from({ length: count }, (_, index) => Number((index * step).toPrecision(9)));
}
