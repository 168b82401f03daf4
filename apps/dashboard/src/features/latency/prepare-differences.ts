import type { Differences, Metric } from '../../api/stats';
import { type Region, requestsOfRegion } from '../../charts/durations/prepare-heat-map';
import { countOf, formatCount } from '../../format/format-number';
import type { RequestsFilter } from '../../range/use-show-requests';

export type Difference = Differences['data'][number];

export const FIELD_LABELS = {
  model: 'Model',
  provider: 'Provider',
  key: 'Key',
  cache: 'Cache',
  stream: 'Stream',
  size: 'Tokens',
} as const satisfies Record<Difference['field'], string>;

const NAMES: Readonly<Record<string, string>> = {
  ...{ 'cache exact': 'Exact hit', 'cache semantic': 'Semantic hit', 'cache miss': 'Miss' },
  ...{ 'stream true': 'Streamed', 'stream false': 'Not streamed' },
};

/** Name of a value; keys have theirs from the gateway. */
export function nameOf({ field, value }: Pick<Difference, 'field' | 'value'>, keyName: (id: string) => string): string {
  if (field === 'key') return keyName(value);
  if (field !== 'size') return NAMES[`${field} ${value}`] ?? (value === '' ? 'None' : value);
  const { from, to } = sizeOf(value);
  return from === to ? formatCount(from) : `${formatCount(from)} to ${formatCount(to)}`;
}

/** From a power of ten to the next, both inclusive. */
function sizeOf(value: string): { readonly from: number; readonly to: number } {
  const from = Number(value);
  return { from, to: from === 0 ? 0 : from * 10 - 1 };
}

const FILTERS: Readonly<Record<Difference['field'], (value: string) => RequestsFilter>> = {
  model: (model) => ({ answering_model: model }),
  provider: (provider) => ({ provider }),
  key: (id) => ({ api_key_id: id }),
  cache: (cache) => ({ cache }),
  stream: (stream) => ({ stream }),
  size: (value) => ({ min_tokens: String(sizeOf(value).from), max_tokens: String(sizeOf(value).to) }),
};

/** Requests of a value in the region; undefined where no filter names them. */
export function requestsOf(
  { field, value }: Pick<Difference, 'field' | 'value'>,
  region: Region,
  metric: Metric,
): RequestsFilter | undefined {
  return value === '' ? undefined : { ...requestsOfRegion(region, metric), ...FILTERS[field](value) };
}

/** Difference of the shares in points (−1…1). */
export const differenceOf = ({ inside_share: inside, outside_share: outside }: Difference): number =>
  (inside ?? 0) - (outside ?? 0);

/** Smaller differences say nothing. */
const LEAST = 0.03;

/** Of course: hits take a millisecond. */
const isMiss = ({ field, value }: Difference) => field === 'cache' && value === 'miss';

/**
 * Values that differ, most first. One that is rarer inside is left out where the same field has one that is more frequent:
 * it says the same again.
 */
export function shownOf({ data }: Differences): readonly Difference[] {
  const rows = data.filter((row) => Math.abs(differenceOf(row)) >= LEAST);
  const told = new Set(rows.filter((row) => differenceOf(row) > 0).map(({ field }) => field));
  return rows.filter((row) => !isMiss(row) && (differenceOf(row) > 0 || !told.has(row.field)));
}

/** Requests behind the shares. */
export function describeRead({ inside_requests: inside, outside_requests: outside, sampled }: Differences): string {
  if (inside === 0) return 'No stored request is in this region.';
  if (outside === 0) return 'All stored requests of the range are in this region: there is nothing to compare it with.';
  const counts = `${countOf(inside, 'request')} inside, ${formatCount(outside)} outside`;
  return sampled ? `A sample of ${counts}. Choose a shorter range to compare more.` : `All ${counts}.`;
}
