import { countOf, formatMs, formatShare } from '../../format/format-number';
import { axisSteps } from '../prepare-ticks';
import { type Bin, fillBins, type GivenBin, logTicks, shareOf } from './prepare-bins';

export const DISTRIBUTION_HEIGHT = 100;

/** Requests by duration, with the answers of caches below the others. */
export interface Distribution {
  readonly bins: readonly Bin[];
  readonly requests: number;
  readonly hits: number;
  /** Ticks of the axis and their places (0…1). */
  readonly ticks: readonly { readonly ms: number; readonly share: number }[];
  /** Ticks of the axis of requests. */
  readonly counts: readonly { readonly count: number; readonly share: number }[];
  /** SVG paths over bins (wide 10) and `DISTRIBUTION_HEIGHT`. */
  readonly paths: { readonly hits: string; readonly others: string };
}

/** Width of a bar with its gap, in units of the drawing. */
export const PITCH = 10;
const WIDTH = 9;
/** A single request stays visible. */
const LEAST_HEIGHT = 1;

export function prepareDistribution(given: readonly GivenBin[]): Distribution {
  const bins = fillBins(given);
  const most = bins.reduce((most, { requests }) => Math.max(most, requests), 1);
  const heightOf = (count: number) =>
    count === 0 ? 0 : Math.max(LEAST_HEIGHT, round((count / most) * DISTRIBUTION_HEIGHT));
  const bar = (index: number, bottom: number, height: number) =>
    height === 0 ? '' : `M${index * PITCH + 0.5} ${round(DISTRIBUTION_HEIGHT - bottom)}v-${height}h${WIDTH}v${height}z`;
  const sum = (of: (bin: Bin) => number) => bins.reduce((total, bin) => total + of(bin), 0);
  return {
    bins,
    requests: sum(({ requests }) => requests),
    hits: sum(({ hits }) => hits),
    ticks: logTicks(bins).map((ms) => ({ ms, share: shareOf(bins, ms) })),
    counts: countTicks(most),
    paths: {
      hits: bins.map(({ hits }, index) => bar(index, 0, heightOf(hits))).join(''),
      others: bins.map(({ requests, hits }, index) => bar(index, heightOf(hits), heightOf(requests - hits))).join(''),
    },
  };
}

const MOST_TICKS = 4;

/** Whole steps up to the highest bar. */
function countTicks(most: number): Distribution['counts'] {
  const step = axisSteps('count')?.find((step) => most / step <= MOST_TICKS) ?? most;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => ({
    ...{ count: index * step, share: (index * step) / most },
  }));
}

const round = (value: number) => Math.round(value * 100) / 100;

export const describeBounds = ({ fromMs, toMs }: Pick<Bin, 'fromMs' | 'toMs'>): string =>
  fromMs > 0 ? `${formatMs(fromMs)} to ${formatMs(toMs)}` : `up to ${formatMs(toMs)}`;

/** A bin in words. */
export function describeBin(bin: Bin, all: number): string {
  const { requests, hits } = bin;
  const bounds = describeBounds(bin);
  if (requests === 0) return `${bounds}: no requests`;
  const ofCaches = hits === 0 ? '' : `, ${countOf(hits, 'cache hit')}`;
  return `${bounds}: ${countOf(requests, 'request')} (${formatShare(requests / all)})${ofCaches}`;
}
