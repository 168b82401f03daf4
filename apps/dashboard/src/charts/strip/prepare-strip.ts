import type { ProviderHealth } from '../../api/stats';
import { countOf, formatCount, formatShare } from '../../format/format-number';
import { formatStamp, type TimeZoneChoice, zoneName } from '../../format/format-time';
import type { TimeRange } from '../../range/time-range';
import type { RequestsFilter } from '../../range/use-show-requests';
import { ENOUGH } from '../prepare-scale';

const MOST_BARS = 90;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The gateway reads seconds from rows, for a while minutes and hours from roll-ups, and days for ever. */
const STEPS = [
  { stepMs: SECOND_MS, longestMs: HOUR_MS },
  { stepMs: MINUTE_MS, longestMs: 47 * HOUR_MS },
  { stepMs: HOUR_MS, longestMs: 89 * DAY_MS },
] as const;

/** Equal stretches of time, one for each bar. */
export interface BarTimes {
  readonly startMs: number;
  readonly intervalMs: number;
  readonly count: number;
}

/** So many bars, and one more if the range begins within one. The first contains its start, the last its end. */
export function barTimes({ fromMs, toMs }: Pick<TimeRange, 'fromMs' | 'toMs'>, most = MOST_BARS): BarTimes {
  const lengthMs = toMs - fromMs;
  const { stepMs } = STEPS.find(({ longestMs }) => lengthMs <= longestMs) ?? { stepMs: DAY_MS };
  const intervalMs = Math.ceil(lengthMs / most / stepMs) * stepMs;
  const first = Math.floor(fromMs / intervalMs);
  return { startMs: first * intervalMs, intervalMs, count: Math.ceil(toMs / intervalMs) - first };
}

/** An interval of the API, which takes six digits. */
export const asStep = (ms: number): string => (ms < HOUR_MS ? `${ms / SECOND_MS}s` : `${ms / HOUR_MS}h`);

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const;

/** `16 minutes`. */
export function describeLength(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms % size === 0) ?? (['second', SECOND_MS] as const);
  return countOf(ms / size, unit);
}

export type Health = 'none' | 'fine' | 'some' | 'mostly';

export const HEALTH_LABELS = {
  none: 'No requests',
  fine: 'No failures',
  some: 'Some failed',
  mostly: 'Half or more failed',
} as const satisfies Record<Health, string>;

/** From this share of failures on, a bar has most of its requests failed. */
const MOSTLY = 0.5;

export interface Bar {
  readonly startMs: number;
  /** Answered or failed by the provider. */
  readonly requests: number;
  readonly failed: number;
  /** Part of `failed`: another target answered. */
  readonly rescued: number;
  /** Never sent there while it was paused: another target answered. */
  readonly skipped: number;
  /** Error code of most failures. */
  readonly mainFailure: string | null;
  readonly health: Health;
}

export interface Strip {
  readonly provider: string;
  readonly bars: readonly Bar[];
  readonly requests: number;
  readonly failed: number;
  readonly rescued: number;
  readonly skipped: number;
}

function healthOf(requests: number, failed: number): Health {
  if (requests === 0) return 'none';
  if (failed === 0) return 'fine';
  return isFew({ requests }) || failed / requests < MOSTLY ? 'some' : 'mostly';
}

/** True if a share of so few requests says little: the bar is faint, and one failure isn't the worst. */
const isFew = ({ requests }: Pick<Bar, 'requests'>) => requests > 0 && requests < ENOUGH;

function toBar(startMs: number, bucket: ProviderHealth | undefined): Bar {
  const {
    answered = 0,
    failed = 0,
    failed_over: rescued = 0,
    answered_elsewhere: elsewhere = 0,
    main_failure: mainFailure = null,
  } = bucket ?? {};
  const requests = answered + failed;
  const health = healthOf(requests, failed);
  return { startMs, requests, failed, rescued, skipped: elsewhere - rescued, mainFailure, health };
}

/** One strip for each provider, those with the most failures first. */
export function prepareStrips(buckets: readonly ProviderHealth[], { startMs, intervalMs, count }: BarTimes): Strip[] {
  const starts = Array.from({ length: count }, (_, index) => startMs + index * intervalMs);
  return [...Map.groupBy(buckets, ({ provider }) => provider)]
    .map(([provider, own]): Strip => {
      const byStart = new Map(own.map((bucket) => [Date.parse(bucket.start), bucket]));
      const bars = starts.map((start) => toBar(start, byStart.get(start)));
      const sum = (of: (bar: Bar) => number) => bars.reduce((total, bar) => total + of(bar), 0);
      return {
        ...{ provider, bars, requests: sum((bar) => bar.requests) },
        ...{ failed: sum((bar) => bar.failed), rescued: sum((bar) => bar.rescued) },
        skipped: sum((bar) => bar.skipped),
      };
    })
    .filter(({ requests, skipped }) => requests + skipped > 0)
    .sort((a, b) => b.failed - a.failed || b.requests - a.requests || (a.provider < b.provider ? -1 : 1));
}

export const STRIP_HEIGHT = 20;
const HEIGHTS = { none: 3, fine: 9, mostly: STRIP_HEIGHT } as const;
const SOME_HEIGHTS = { least: 12, most: 18 } as const;

/** Taller is worse: color alone doesn't tell health. */
export function heightOf({ health, requests, failed }: Drawn): number {
  if (health !== 'some') return HEIGHTS[health];
  const { least, most } = SOME_HEIGHTS;
  return Math.round(least + (most - least) * Math.min(1, failed / requests / MOSTLY));
}

type Drawn = Pick<Bar, 'health' | 'requests' | 'failed'>;

/** Width of a bar with its gap, in units of the drawing. */
export const BAR_PITCH = 10;
const BAR_WIDTH = 8;

/** All bars of one health, with few requests or with enough, as an SVG path. */
export const pathOf = (bars: readonly Drawn[], health: Health, ofFew = false): string =>
  bars
    .map((bar, index) => (bar.health === health && isFew(bar) === ofFew ? shapeOf(index, heightOf(bar)) : ''))
    .join('');

const shapeOf = (index: number, height: number) =>
  `M${index * BAR_PITCH + 1} ${STRIP_HEIGHT}v-${height}h${BAR_WIDTH}v${height}z`;

interface Shown {
  readonly intervalMs: number;
  readonly timeZone: TimeZoneChoice;
}

const DAY = '2026-01-31'.length;

/** A stretch of time, to the second where it is no whole minutes. */
export function describeTime({ startMs }: Pick<Bar, 'startMs'>, { intervalMs, timeZone }: Shown): string {
  const stamp = (ms: number) => formatStamp(ms, timeZone).slice(0, intervalMs % MINUTE_MS === 0 ? 16 : 19);
  const [from, to] = [stamp(startMs), stamp(startMs + intervalMs)] as const;
  const end = from.slice(0, DAY) === to.slice(0, DAY) ? to.slice(DAY + 1) : to;
  return `${from} to ${end} ${zoneName(timeZone)}`;
}

type Counts = Pick<Strip, 'requests' | 'failed' | 'rescued' | 'skipped'>;

/** All that another target answered, as the page of routing counts them: not all of them were sent there. */
function describeElsewhere({ rescued, skipped }: Counts): string {
  const all = `${formatCount(rescued + skipped)} answered elsewhere`;
  if (skipped === 0) return rescued === 0 ? '' : all;
  if (rescued === 0) return `${all}: skipped it while paused`;
  return `${all}: ${formatCount(rescued)} failed there, ${formatCount(skipped)} skipped it while paused`;
}

/** A whole strip in words, in two parts: failures there are not those that callers saw, which the route map has. */
export function describeStrip(strip: Counts): readonly [sent: string, elsewhere: string] {
  const { requests, failed } = strip;
  const all = formatCount(requests);
  const sent =
    failed === 0
      ? `${all} sent, none failed`
      : `${formatCount(failed)} of ${all} sent failed (${formatShare(failed / requests)})`;
  return [sent, describeElsewhere(strip)];
}

/** A bar in words. */
export function describeBar(bar: Bar, shown: Shown): string {
  const { requests, failed, skipped, mainFailure } = bar;
  const time = describeTime(bar, shown);
  if (requests === 0 && skipped > 0) return `${time}: none sent, ${formatCount(skipped)} skipped it while paused`;
  if (requests === 0) return `${time}: no requests`;
  const more = describeElsewhere(bar);
  const rest = more === '' ? '' : `; ${more}`;
  const asked = countOf(requests, 'request');
  if (failed === 0) return `${time}: ${asked}, none failed${rest}`;
  return `${time}: ${asked}, ${formatCount(failed)} failed (${formatShare(failed / requests)}), mostly ${mainFailure}${rest}`;
}

/** True for a pause: all of its requests went to other targets. */
const isPause = ({ requests, skipped }: Bar) => requests === 0 && skipped > 0;

/** Filter of the requests behind a bar. */
export const requestsOfBar = (provider: string, bar: Bar): RequestsFilter =>
  isPause(bar) ? { failover_from: provider } : { sent_to: provider };

/** Target of a click on a bar, in words. */
export const opensOf = (bar: Bar): string => (isPause(bar) ? 'the requests that others answered' : 'these requests');
