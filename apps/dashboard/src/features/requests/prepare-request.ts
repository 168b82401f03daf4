import type { Log } from '../../api/logs';
import { isUnasked, prepareParts, type Timed } from '../../charts/waterfall/prepare-waterfall';
import { formatCount, formatMs, NOTHING } from '../../format/format-number';
import { formatTarget } from '../../format/format-target';
import { formatUsd } from '../../format/format-usd';
import { SAVED } from '../../format/saved-labels';
import type { PageSearch } from '../../range/page-search';
import type { Place } from '../../ui/place-link';
import { keyOfRun } from '../runs/prepare-run';

/** Cost of a request by part, largest first. */
export function prepareCostParts(
  detail: Log['cost_detail'],
): readonly { readonly name: string; readonly usd: number }[] {
  return Object.entries(detail ?? {})
    .flatMap(([name, value]) =>
      typeof value === 'number' && value > 0 ? [{ name: name.replaceAll('_', ' '), usd: value }] : [],
    )
    .sort((a, b) => b.usd - a.usd);
}

export type CacheOutcome = 'exact' | 'semantic' | 'miss';

export const cacheOutcome = (log: Pick<Log, 'cache_hit' | 'semantic_cache_hit'>): CacheOutcome =>
  log.semantic_cache_hit ? 'semantic' : log.cache_hit ? 'exact' : 'miss';

/** null where neither a cache nor a provider was asked. */
export const cacheShown = (log: Timed): CacheOutcome | null => (isUnasked(log) ? null : cacheOutcome(log));

/** The one that answered, else the first one called; null where none was. */
export const providerOf = (log: Timed & Pick<Log, 'final_provider' | 'provider'>): string | null =>
  isUnasked(log) ? null : (log.final_provider ?? log.provider);

/** `× n` for a row of aggregated refusals. */
export const foldedNote = ({ refused_count: count }: Pick<Log, 'refused_count'>): string | null =>
  count === null || count === 1 ? null : `× ${formatCount(count)}`;

/** What the status alone doesn't say. */
export const statusNote = (log: Pick<Log, 'refused_count' | 'failover_count'>): string | null =>
  foldedNote(log) ?? (log.failover_count > 0 ? 'failover' : null);

/** Label, value (null if empty) and a link to more. */
export type Fact = readonly [name: string, value: string | null, link?: Place];

/** Other requests with the same value, without the list's filters. */
const others = (search: Readonly<Record<string, string>>): Place => ({
  to: '/requests',
  search: ({ range, from, to, tz, project }: PageSearch) => ({ range, from, to, tz, project, ...search }),
});

/** Caller, target and subject. */
export function prepareOrigin(log: Log, names: { readonly project: string; readonly key: string }): readonly Fact[] {
  const { project_id: projectId, api_key_id: keyId, customer_id: customerId } = log;
  const provider = providerOf(log);
  return [
    ['Model', log.model, others({ answering_model: log.model })],
    [
      'Requested model',
      log.requested_model === log.model ? null : log.requested_model,
      others({ requested_model: log.requested_model }),
    ],
    [
      'Provider',
      provider ?? NOTHING,
      provider === null ? undefined : { to: '/routing', search: ofProject({ open: provider }) },
    ],
    ['Project', names.project, { to: `/projects/${projectId}`, search: ofProject({}) }],
    ['Key', names.key, { to: `/projects/${projectId}`, search: ofProject({ open: keyId }) }],
    ['Key requests', 'View all', others({ api_key_id: keyId })],
    ['Customer', customerId, { to: '/customers', search: ofProject({ open: customerId ?? '' }) }],
    ['Customer requests', customerId === null ? null : 'View all', others({ customer_id: customerId ?? '' })],
    ['Client request ID', log.client_request_id],
    ['API', log.dialect],
    ['Modality', log.modality === 'text' ? null : log.modality, others({ modality: log.modality })],
    ['Units', describeUnits(log.units)],
    ['Route', log.routing?.map(describeReason).join('; ') ?? soleRoute(log)],
    ['Refusals', foldedNote(log)],
    ['Dropped parameters', log.dropped_params?.join(', ') ?? null],
    ['Run', log.run_id, runLink(log)],
    ['Tool calls of the run', log.run_id === null ? null : 'View all', callsOf(log.run_id ?? '')],
    // Answers of a session share it.
    [log.modality === 'realtime' ? 'Session' : 'Trace', log.trace_id, others({ trace_id: log.trace_id ?? '' })],
    ['Similarity', log.similarity_score === null ? null : log.similarity_score.toFixed(4)],
    ['Matched by', log.matched_by, { to: '/requests', search: (kept) => ({ ...kept, open: log.matched_by }) }],
  ];
}

/** An answer from a cache had no call. The row doesn't say whether there were others to ask. */
function soleRoute({ attempts }: Pick<Log, 'attempts'>): string | null {
  const targets = new Set(attempts?.map(formatTarget));
  return targets.size === 1 ? 'one target tried' : null;
}

/** `openai/gpt-4o: priority`, in the words of `X-LLM0-Route`. */
const describeReason = ({ provider, model, reason }: NonNullable<Log['routing']>[number]): string =>
  `${formatTarget({ provider, model })}: ${reason.replaceAll('_', ' ')}`;

/** `2 images, 12.5 seconds`; null without any. */
const describeUnits = (units: Log['units']): string | null =>
  Object.entries(units ?? {})
    .map(([name, count]) => `${formatCount(count)} ${name.replaceAll('_', ' ')}`)
    .join(', ') || null;

const ofProject =
  (search: Readonly<Record<string, string>>) =>
  ({ range, from, to, tz }: PageSearch) => ({ range, from, to, tz, ...search });

/** The run, with all of its requests and tool calls. */
const runLink = ({ run_id: id, project_id: projectId }: Log): Place => ({
  to: '/runs',
  search: ofProject({ open: keyOfRun({ id: id ?? '', project_id: projectId }) }),
});

const callsOf = (run: string): Place => ({ to: '/tools', search: ofProject({ tab: 'calls', run }) });

/** Duration, and the labels of the request. */
export function prepareMeasures(log: Log): Readonly<Record<string, readonly Fact[]>> {
  const unlessNone = (count: number) => (count === 0 ? null : formatCount(count));
  const labels = Object.entries(log.labels ?? {});
  const parts = prepareParts(log);
  const { latency_ms: wholeMs, overhead_ms: firstMs } = log;
  // The sums of the waterfall's bars, where it has any.
  const gateway = formatMs(isUnasked(log) ? wholeMs : (parts?.gatewayMs ?? firstMs));
  const beforeFirst = parts === null || firstMs === null ? gateway : formatMs(firstMs);
  return {
    Time: [
      ['Total', formatMs(wholeMs)],
      ['First token', formatMs(log.ttft_ms)],
      ['Upstream', formatMs(parts?.upstreamMs ?? log.upstream_ms)],
      ['Waits', parts === null || parts.waitMs === 0 ? null : formatMs(parts.waitMs)],
      ['Gateway overhead', gateway],
      // As the list and `X-Overhead-Ms` have it.
      ['before the first byte', beforeFirst === gateway ? null : beforeFirst],
    ],
    Tokens: [
      ['In', formatCount(log.tokens_in)],
      ['from the vendor’s cache', unlessNone(log.tokens_cache_read)],
      ['written to the vendor’s cache', unlessNone(log.tokens_cache_write)],
      ['Out', formatCount(log.tokens_out)],
      ['reasoning', unlessNone(log.tokens_reasoning)],
    ],
    Cost: [
      ['Total', formatUsd(log.cost_usd)],
      ...prepareCostParts(log.cost_detail).map(({ name, usd }): Fact => [name, formatUsd(usd)]),
      [SAVED.byCache, log.saved_usd === 0 ? null : formatUsd(log.saved_usd)],
    ],
    ...(labels.length > 0 ? { Labels: labels } : {}),
  };
}
