import type { Log } from '../../api/logs';
import { SeriesName } from '../../charts/series-name';
import { formatCount } from '../../format/format-number';
import { formatStamp, type TimeZoneChoice } from '../../format/format-time';
import { Badge, STATUS_TONES } from '../../ui/badge';
import type { Column } from '../../ui/table/column';
import { cacheOutcome, foldedNote } from './prepare-request';

const CACHE_TONES = { exact: 'good', semantic: 'accent', miss: 'neutral' } as const;

export const requestColumns = (timeZone: TimeZoneChoice, projectName: (id: string) => string): Column<Log>[] => [
  { header: 'Time', value: (log) => log.created_at, cell: (log) => <Time at={log.created_at} timeZone={timeZone} /> },
  { header: 'Status', value: (log) => log.status, cell: (log) => <Status log={log} /> },
  { header: 'Model', value: (log) => log.model, cell: (log) => <SeriesName name={log.model} /> },
  { header: 'Provider', wideOnly: 'very', value: (log) => log.final_provider ?? log.provider },
  { header: 'Project', wideOnly: 'very', narrow: true, value: (log) => projectName(log.project_id) },
  { header: 'Customer', wideOnly: true, narrow: true, value: (log) => log.customer_id },
  { header: 'Cache', wideOnly: true, value: cacheOutcome, tone: (log) => CACHE_TONES[cacheOutcome(log)] },
  {
    header: 'Tokens in / out',
    align: 'right',
    wideOnly: true,
    value: (log) => log.tokens_total,
    cell: (log) => `${formatCount(log.tokens_in)} / ${formatCount(log.tokens_out)}`,
  },
  { header: 'Cost', unit: 'usd', value: (log) => log.cost_usd },
  { header: 'Latency', unit: 'ms', value: (log) => log.latency_ms },
  { header: 'First token', unit: 'ms', wideOnly: 'most', value: (log) => log.ttft_ms },
];

function Time({ at, timeZone }: { readonly at: string; readonly timeZone: TimeZoneChoice }) {
  const [day = '', clock] = formatStamp(at, timeZone).split(' ');
  return (
    <span className="nums">
      <span className="text-muted max-sm:hidden">{day.slice(5)} </span>
      {clock}
    </span>
  );
}

function Status({ log }: { readonly log: Log }) {
  const note = foldedNote(log);
  return (
    <span className="whitespace-nowrap">
      <StatusBadge log={log} />
      {note === null ? null : <span className="nums text-muted"> {note}</span>}
    </span>
  );
}

function StatusBadge({ log }: { readonly log: Log }) {
  return (
    <Badge tone={STATUS_TONES[log.status]}>
      {log.status === 'success' || log.error_code === null ? (
        log.http_status
      ) : (
        <>
          <span className="sm:hidden">{log.http_status}</span>
          <span className="max-w-22 truncate max-sm:hidden" title={log.error_code}>
            {log.error_code}
          </span>
        </>
      )}
    </Badge>
  );
}
