import type { Log } from '../../api/logs';
import { SeriesName } from '../../charts/series-name';
import { formatCount } from '../../format/format-number';
import { formatStamp, type TimeZoneChoice } from '../../format/format-time';
import { OUTCOME_LABELS } from '../../format/outcome-labels';
import { SAVED } from '../../format/saved-labels';
import { Badge, STATUS_TONES } from '../../ui/badge';
import type { Column } from '../../ui/table/column';
import { cacheShown, providerOf, statusNote } from './prepare-request';

const CACHE_TONES = { exact: 'good', semantic: 'accent', miss: 'neutral' } as const;

/** A column and the field of a request that it shows. */
export interface RequestColumn extends Column<Log> {
  readonly field: string;
  /** Hidden by default. */
  readonly isExtra?: true;
}

interface Names {
  readonly project: (id: string) => string;
  readonly key: (id: string) => string;
}

/** By field. Fixed widths spare the browser a look at all rows. */
const WIDTHS: Readonly<Record<string, string>> = {
  created_at: 'w-28 max-sm:w-17',
  status: 'w-36 max-sm:w-13',
  model: 'w-34 max-sm:w-19',
  provider: 'w-22',
  project_id: 'w-28',
  customer_id: 'w-30',
  cache: 'w-20',
  tokens_total: 'w-26',
  cost_usd: 'w-22',
  latency_ms: 'w-20 max-sm:w-17',
  ttft_ms: 'w-20',
  error_code: 'w-36',
  requested_model: 'w-36',
  labels: 'w-36',
  request_id: 'w-36',
};

/** All columns in their default order. */
export const requestColumns = (timeZone: TimeZoneChoice, names: Names): readonly RequestColumn[] =>
  fieldColumns(timeZone, names).map((column) => ({ ...column, width: WIDTHS[column.field] ?? 'w-24' }));

const fieldColumns = (timeZone: TimeZoneChoice, names: Names): readonly RequestColumn[] => [
  {
    ...{ field: 'created_at', sortKey: 'created_at' },
    header: 'Time',
    value: (log) => log.created_at,
    cell: (log) => <Time at={log.created_at} timeZone={timeZone} />,
  },
  {
    ...{ field: 'status', sortKey: 'http_status', header: 'Status' },
    value: (log) => log.outcome,
    cell: (log) => <Status log={log} />,
  },
  {
    ...{ field: 'model', sortKey: 'model', header: 'Model' },
    value: (log) => log.model,
    cell: (log) => <SeriesName name={log.model} wraps />,
  },
  {
    ...{ field: 'provider', sortKey: 'provider', header: 'Provider', wideOnly: 'very' },
    value: providerOf,
  },
  {
    ...{ field: 'project_id', header: 'Project', wideOnly: 'very', narrow: true },
    value: (log) => names.project(log.project_id),
  },
  {
    ...{ field: 'customer_id', sortKey: 'customer_id', header: 'Customer', wideOnly: true, narrow: true },
    value: (log) => log.customer_id,
  },
  {
    ...{ field: 'cache', header: 'Cache', wideOnly: true },
    value: cacheShown,
    tone: (log) => CACHE_TONES[cacheShown(log) ?? 'miss'],
  },
  {
    ...{ field: 'tokens_total', sortKey: 'tokens_total', header: 'Tokens in / out' },
    align: 'right',
    wideOnly: true,
    value: (log) => log.tokens_total,
    cell: (log) => `${formatCount(log.tokens_in)} / ${formatCount(log.tokens_out)}`,
  },
  { ...measured('cost_usd', 'Cost', 'cost'), value: (log) => log.cost_usd },
  { ...measured('latency_ms', 'Latency', 'ms'), value: (log) => log.latency_ms },
  { ...measured('ttft_ms', 'First token', 'ms'), wideOnly: 'more', value: (log) => log.ttft_ms },
  ...extraColumns(names),
];

const measured = (field: string, header: string, unit: 'cost' | 'ms' | 'count') => ({
  ...{ field, sortKey: field, header, unit },
});
const extra = { isExtra: true } as const;

const extraColumns = (names: Names): readonly RequestColumn[] => [
  { ...extra, field: 'api_key_id', header: 'Key', narrow: true, value: (log) => names.key(log.api_key_id) },
  {
    ...{ ...extra, field: 'error_code', sortKey: 'error_code', header: 'Error', narrow: true },
    value: (log) => log.error_code,
  },
  { ...extra, field: 'requested_model', header: 'Requested model', narrow: true, value: (log) => log.requested_model },
  { ...extra, ...measured('tokens_in', 'Tokens in', 'count'), value: (log) => log.tokens_in },
  { ...extra, ...measured('tokens_out', 'Tokens out', 'count'), value: (log) => log.tokens_out },
  { ...extra, ...measured('saved_usd', SAVED.byCache, 'cost'), value: (log) => log.saved_usd },
  { ...extra, ...measured('upstream_ms', 'Upstream', 'ms'), value: (log) => log.upstream_ms },
  { ...extra, ...measured('overhead_ms', 'Overhead', 'ms'), value: (log) => log.overhead_ms },
  { ...extra, field: 'dialect', header: 'API', value: (log) => log.dialect },
  {
    ...{ ...extra, field: 'labels', header: 'Labels', narrow: true },
    value: (log) =>
      Object.entries(log.labels ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .join(', ') || null,
  },
  { ...extra, field: 'request_id', header: 'Request ID', narrow: true, value: (log) => log.request_id },
];

/** Chosen columns in order; else the default ones. */
export function shownColumns(
  all: readonly RequestColumn[],
  chosen: readonly string[] | null,
): readonly RequestColumn[] {
  if (chosen === null) return all.filter(({ isExtra }) => !isExtra);
  return chosen.flatMap((field) => {
    const column = all.find((one) => one.field === field);
    return column === undefined ? [] : [{ ...column, wideOnly: undefined }];
  });
}

function Time({ at, timeZone }: { readonly at: string; readonly timeZone: TimeZoneChoice }) {
  const [day = '', clock] = formatStamp(at, timeZone).split(' ');
  return (
    <span className="nums">
      <span className="text-muted max-sm:block max-sm:text-2xs">{day.slice(5)} </span>
      {clock}
    </span>
  );
}

function Status({ log }: { readonly log: Log }) {
  const note = statusNote(log);
  return (
    <span className="flex items-center gap-1 whitespace-nowrap *:min-w-0">
      <StatusBadge log={log} />
      {note === null ? null : <span className="nums shrink-0 text-muted">{note}</span>}
    </span>
  );
}

function StatusBadge({ log }: { readonly log: Log }) {
  return (
    <Badge tone={STATUS_TONES[log.outcome]}>
      {log.outcome === 'success' || log.error_code === null ? (
        log.http_status
      ) : (
        <>
          <span className="sm:hidden">{log.http_status}</span>
          <span
            className="min-w-0 truncate font-mono max-sm:hidden"
            title={`${OUTCOME_LABELS[log.outcome]}: ${log.error_code}`}
          >
            {log.error_code}
          </span>
        </>
      )}
    </Badge>
  );
}
