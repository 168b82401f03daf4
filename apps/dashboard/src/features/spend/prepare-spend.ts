import type { ErrorBucket, SpendBucket } from '../../api/stats';
import { type ChartData, type PrepareOptions, prepareSeries } from '../../charts/prepare-series';
import { apartColorOf, colorOf } from '../../charts/series-colors';
import { changeOf, countOf } from '../../format/format-number';
import { rangeQuery, type TimeRange } from '../../range/time-range';
import type { Page } from '../../range/use-page';

export interface SpendLine {
  readonly name: string;
  readonly costUsd: number;
  /** Share of the range's spend; null without spend. */
  readonly share: number | null;
  readonly requests: number;
  readonly usdPerRequest: number | null;
  readonly usdPerMillionTokens: number | null;
  readonly savedUsd: number;
  /** Change against the previous period; null without data there, or if it began within that period. */
  readonly change: number | null;
}

interface Beside {
  /** The period before. */
  readonly before?: readonly SpendBucket[];
  /** The one before that: a group without requests there began late, and has no change. */
  readonly first?: readonly SpendBucket[];
  /** Outcomes of the same groups: refusals cost nothing, and dilute what a request costs. */
  readonly outcomes?: readonly ErrorBucket[];
  /** Keeps groups that only refusals and errors of callers have. */
  readonly keepsAll?: boolean;
}

/** Requests that were answered, failed or were left; undefined without outcomes. */
const askedOf = (bucket: ErrorBucket | undefined) =>
  bucket === undefined ? undefined : bucket.success + bucket.failures + bucket.aborted;

/** What the column of requests counts, and the requests that no line has (`countLeftOut`). */
export function describeCounted(groupBy: string, leftOut: number): string {
  // Without outcomes, refusals dilute the price of a request.
  const what = hasOutcomes(groupBy) ? 'Requests' : 'Requests and $ / request';
  const counted = `${what} include cache hits and refused requests.`;
  if (leftOut === 0) return counted;
  const requests = `${countOf(leftOut, 'request')} ${leftOut === 1 ? 'is' : 'are'} left out`;
  return groupBy === 'provider'
    ? `${counted} ${requests}: the gateway refused ${leftOut === 1 ? 'it' : 'them'} before it chose a provider.`
    : `${counted} ${requests}, of names that no model answered.`;
}

/** Requests of groups that reached no provider and cost nothing: mistyped models, refusals without a provider. */
export const countLeftOut = (now: readonly SpendBucket[], outcomes: readonly ErrorBucket[]): number => {
  const lines = new Set(prepareSpendLines(now, { outcomes }).map(({ name }) => name));
  return now.reduce((sum, { group, requests }) => sum + (lines.has(group ?? '') ? 0 : requests), 0);
};

/** One line for each group, dearest first, with the previous period. */
export function prepareSpendLines(
  now: readonly SpendBucket[],
  { before = [], first = [], outcomes = [], keepsAll = false }: Beside = {},
): SpendLine[] {
  const asked = new Map(outcomes.map((bucket) => [bucket.group ?? '', askedOf(bucket)]));
  const began = new Set(first.filter(({ requests }) => requests > 0).map(({ group }) => group ?? ''));
  const total = now.reduce((sum, { cost_usd }) => sum + cost_usd, 0);
  const earlier = new Map(before.map((bucket) => [bucket.group ?? '', bucket.cost_usd]));
  return now
    .filter(({ group, cost_usd: usd }) => keepsAll || usd !== 0 || asked.get(group ?? '') !== 0)
    .map((bucket): SpendLine => {
      const name = bucket.group ?? '';
      const requests = asked.get(name) ?? bucket.requests;
      const tokens = bucket.tokens_in + bucket.tokens_out;
      return {
        name,
        costUsd: bucket.cost_usd,
        share: total === 0 ? null : bucket.cost_usd / total,
        requests: bucket.requests,
        usdPerRequest: requests === 0 ? null : bucket.cost_usd / requests,
        usdPerMillionTokens: tokens === 0 ? null : (bucket.cost_usd / tokens) * 1e6,
        savedUsd: bucket.saved_usd,
        change: began.has(name) ? changeOf(bucket.cost_usd, earlier.get(name) ?? null) : null,
      };
    })
    .sort((a, b) => b.costUsd - a.costUsd || b.requests - a.requests);
}

type SpendChart = Pick<PrepareOptions<SpendBucket>, 'times' | 'labelOf' | 'colorOf'>;

/** Spend over time, one layer a group that cost something; undefined while it loads. */
export function prepareSpend(buckets: readonly SpendBucket[] | undefined, chart: SpendChart): ChartData | undefined {
  if (buckets === undefined) return undefined;
  // A mistyped model fails at no cost: it has no layer, and takes no color or place in the legend.
  const spent = new Set(buckets.filter(({ cost_usd: usd }) => usd !== 0).map(({ group }) => group));
  const drawn = buckets.filter(({ group }) => spent.has(group));
  return prepareSeries({ ...chart, buckets: drawn, value: (bucket) => bucket.cost_usd, empty: 0 });
}

/** Text of a chart of spend without any, where there are requests. */
export const describeNoSpend = (buckets: readonly SpendBucket[] = []): string | undefined =>
  buckets.some(({ requests }) => requests > 0) ? 'No spend in this range: its requests cost nothing.' : undefined;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FEW_HOURS_MS = 6 * HOUR_MS;

/** Rows are kept longer than this, whatever `LOG_RETENTION_DAYS` says. */
const ROWS_KEPT_MS = 61 * DAY_MS;

/** True if the range's first day can't be cut: its requests may be gone, and customers' sums are of whole UTC days. */
export const isByDays = ({ fromMs, toMs }: TimeRange, nowMs = Date.now()): boolean =>
  toMs - fromMs > DAY_MS && fromMs < nowMs - ROWS_KEPT_MS;

/** Customers have hourly data for a day only: longer ranges are drawn by days. */
export function toCustomerRange(range: TimeRange, nowMs = Date.now()): TimeRange {
  const lengthMs = range.toMs - range.fromMs;
  if (lengthMs <= FEW_HOURS_MS) return range;
  if (lengthMs <= DAY_MS) return { ...range, intervalMs: Math.max(HOUR_MS, range.intervalMs) };
  const fromMs = isByDays(range, nowMs) ? Math.floor(range.fromMs / DAY_MS) * DAY_MS : range.fromMs;
  return { ...range, fromMs, intervalMs: Math.max(DAY_MS, range.intervalMs) };
}

/** Range of a page for these groups' spend, and its query. */
export function toSpendQuery({ range: wanted, query }: Pick<Page, 'range' | 'query'>, groupBy: string) {
  const range = groupBy === 'customer' ? toCustomerRange(wanted) : wanted;
  return { range, query: { ...query, ...rangeQuery(range), group_by: groupBy } };
}

/** Models and providers have the same color everywhere; of other names there are too many. */
export const colorsOf = (groupBy: string): ((name: string, beside?: readonly string[]) => string) =>
  groupBy === 'model' || groupBy === 'provider' ? colorOf : apartColorOf;

/** Groupings of spend: fixed names, and labels. */
export const SPEND_GROUPS = {
  model: 'Model',
  provider: 'Provider',
  project: 'Project',
  key: 'Key',
  customer: 'Customer',
  team: 'Team',
  cost_center: 'Cost center',
  modality: 'Modality',
} as const;

/** Group from the address; by default, by model. */
export function readGroup(by: string | undefined): string {
  if (by === undefined) return 'model';
  return Object.hasOwn(SPEND_GROUPS, by) || /^label\.[a-z0-9_-]{1,100}$/i.test(by) ? by : 'model';
}

const LABEL = 'label.';

/** Label for grouping; undefined for built-in names. */
export const labelIn = (groupBy: string): string | undefined =>
  groupBy.startsWith(LABEL) ? groupBy.slice(LABEL.length) : undefined;

/** These are read from single requests, of at most 7 days. */
export const isOfRows = (groupBy: string): boolean => groupBy === 'modality' || labelIn(groupBy) !== undefined;

/** Tool calls have no outcomes of requests. */
export const hasOutcomes = (groupBy: string): boolean => groupBy !== 'modality';

/** Callers name these groups: one that nothing answered may be mistyped. */
export const isNamedByCallers = (groupBy: string): boolean => groupBy === 'model' || groupBy === 'provider';

/** Requests can't be filtered by these. */
export const isFilter = (groupBy: string): boolean => groupBy !== 'team' && groupBy !== 'cost_center';

const FILTERS: Readonly<Record<string, string>> = {
  ...{ key: 'api_key_id', customer: 'customer_id' },
  // `model` would also find requests that another one answered.
  model: 'answering_model',
};

/** Request filter for a group; empty for a group that is no filter. */
export function filterOf(groupBy: string, name: string): Record<string, string> {
  if (name === '' || name === '(other)' || !isFilter(groupBy)) return {};
  // Tool calls are no requests.
  if (groupBy === 'modality' && name === 'tool') return {};
  const label = labelIn(groupBy);
  if (label !== undefined) return { label: `${label}=${name}` };
  return { [FILTERS[groupBy] ?? groupBy]: name };
}
