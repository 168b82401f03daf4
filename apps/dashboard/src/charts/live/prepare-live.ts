import { countOf, formatCount, NOTHING } from '../../format/format-number';

/** News of the stream's topic `traffic`. */
export interface TrafficNews {
  readonly now: string;
  /** null if the store doesn't answer. */
  readonly in_flight: number | null;
  readonly batches: readonly (Omit<Counts, 'callerErrors'> & { readonly at: string; readonly caller_errors: number })[];
}

interface Counts {
  readonly requests: number;
  readonly failed: number;
  /** Not among the failures. */
  readonly callerErrors: number;
  /** By a limit. */
  readonly refused: number;
}

export interface Traffic {
  /** By second of the gateway's clock. */
  readonly seconds: ReadonlyMap<number, Counts>;
  readonly inFlight: number | null;
  /** Difference of the gateway's clock to this one. */
  readonly aheadMs: number;
}

export const NO_TRAFFIC: Traffic = { seconds: new Map(), inFlight: null, aheadMs: 0 };

const SECOND_MS = 1000;
export const SHOWN_SECONDS = 60;
/** Rows are stored about a second after their requests: younger seconds would always look idle. */
const LATE_SECONDS = 2;
/** A rate is of the newest seconds. */
const RATE_SECONDS = 10;
const NONE: Counts = { requests: 0, failed: 0, callerErrors: 0, refused: 0 };

/** Adds what came in, and drops seconds that are no longer shown. */
export function addNews(before: Traffic, news: TrafficNews, nowMs: number): Traffic {
  const oldest = Math.floor(Date.parse(news.now) / SECOND_MS) - SHOWN_SECONDS - LATE_SECONDS - 1;
  const seconds = new Map([...before.seconds].filter(([second]) => second >= oldest));
  for (const { at, requests, failed, caller_errors: callerErrors, refused } of news.batches) {
    const second = Math.floor(Date.parse(at) / SECOND_MS);
    const known = seconds.get(second) ?? NONE;
    seconds.set(second, {
      ...{ requests: known.requests + requests, failed: known.failed + failed },
      ...{ callerErrors: known.callerErrors + callerErrors, refused: known.refused + refused },
    });
  }
  return { seconds, inFlight: news.in_flight, aheadMs: Date.parse(news.now) - nowMs };
}

export interface LiveMinute {
  /** Oldest first. */
  readonly bars: readonly Counts[];
  readonly perSecond: number;
  readonly requests: number;
  readonly failed: number;
  readonly callerErrors: number;
  readonly refused: number;
  /** SVG paths over seconds (wide `PITCH`) and `LIVE_HEIGHT`. */
  readonly paths: { readonly failed: string; readonly others: string };
}

export const LIVE_HEIGHT = 24;
export const PITCH = 4;
const WIDTH = 3;

export function prepareLive({ seconds, aheadMs }: Traffic, nowMs: number): LiveMinute {
  const last = Math.floor((nowMs + aheadMs) / SECOND_MS) - LATE_SECONDS;
  const bars = Array.from({ length: SHOWN_SECONDS }, (_, index) => {
    return seconds.get(last - SHOWN_SECONDS + 1 + index) ?? NONE;
  });
  const most = Math.max(1, ...bars.map(({ requests }) => requests));
  const sum = (of: (bar: Counts) => number, counted = bars) => counted.reduce((total, bar) => total + of(bar), 0);
  const heightOf = (count: number) =>
    count === 0 ? 0 : Math.max(1, Math.round((count / most) * LIVE_HEIGHT * 10) / 10);
  const bar = (index: number, bottom: number, height: number) =>
    height === 0 ? '' : `M${index * PITCH} ${LIVE_HEIGHT - bottom}v-${height}h${WIDTH}v${height}z`;
  return {
    bars,
    perSecond: sum(({ requests }) => requests, bars.slice(-RATE_SECONDS)) / RATE_SECONDS,
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    callerErrors: sum(({ callerErrors }) => callerErrors),
    refused: sum(({ refused }) => refused),
    paths: {
      failed: bars.map(({ failed }, index) => bar(index, 0, heightOf(failed))).join(''),
      others: bars
        .map(({ requests, failed }, index) => bar(index, heightOf(failed), heightOf(requests - failed)))
        .join(''),
    },
  };
}

/** `12.4`, `1,240`. */
export const formatRate = (perSecond: number): string =>
  perSecond < 100 ? perSecond.toFixed(1) : formatCount(Math.round(perSecond));

export const formatInFlight = (inFlight: number | null): string =>
  inFlight === null ? NOTHING : formatCount(inFlight);

/** `2 failed, 1 caller error, 5 refused`. */
export const describeErrors = ({ failed, callerErrors, refused }: LiveMinute): string =>
  [
    `${formatCount(failed)} failed`,
    ...(callerErrors === 0 ? [] : [countOf(callerErrors, 'caller error')]),
    ...(refused === 0 ? [] : [`${formatCount(refused)} refused`]),
  ].join(', ');

const FIGURE_SECONDS = 10;

/** The minute in stretches of ten seconds, for screen readers. */
export function liveFigures({ bars }: LiveMinute) {
  return Array.from({ length: SHOWN_SECONDS / FIGURE_SECONDS }, (_, index) => {
    const part = bars.slice(index * FIGURE_SECONDS, (index + 1) * FIGURE_SECONDS);
    const [from, to] = [SHOWN_SECONDS - index * FIGURE_SECONDS, SHOWN_SECONDS - (index + 1) * FIGURE_SECONDS];
    const sum = (of: (bar: Counts) => number) => formatCount(part.reduce((total, bar) => total + of(bar), 0));
    return {
      key: String(index),
      cells: [`${from} to ${to} seconds ago`, sum(({ requests }) => requests), sum(({ failed }) => failed)],
    };
  });
}
