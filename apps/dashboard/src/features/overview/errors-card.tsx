import type { ErrorDomain } from '@llm0/core/errors/outcome';
import { type StatsQuery, useErrors } from '../../api/stats';
import { MEANING } from '../../charts/series-colors';
import { formatCount, NOTHING } from '../../format/format-number';
import { oneOrMany } from '../../range/request-filter';
import { requestsLink } from '../../range/use-show-requests';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { Mono } from '../../ui/name';
import { PlaceLink } from '../../ui/place-link';
import type { Column } from '../../ui/table/column';
import { DataTable } from '../../ui/table/data-table';
import { DOMAIN_LABELS, type ErrorLine, prepareErrors } from './prepare-overview';

/** Failed and refused requests, by fault. */
export function ErrorsCard({ query }: { readonly query: StatsQuery }) {
  const errors = useErrors({ ...query, interval: 'all', group_by: 'error_code' });
  const lines = errors.data && prepareErrors(errors.data.buckets);
  return (
    <Card title="Errors and refusals" flush>
      <Failure of={errors} />
      <ul className="flex flex-wrap gap-x-6 gap-y-1 border-b px-4 pt-1 pb-3">
        {(Object.keys(DOMAIN_LABELS) as ErrorDomain[]).map((domain) => (
          <li key={domain}>
            <DomainCount domain={domain} lines={lines?.filter((line) => line.domain === domain)} />
          </li>
        ))}
      </ul>
      <DataTable
        caption="Error codes"
        rows={lines}
        rowKey={(line) => line.code}
        loadingRows={3}
        sortBy="Requests"
        columns={COLUMNS}
        linkOf={(line) => requestsLink({ error_code: line.code })}
        emptyTitle="No errors in this range"
      />
    </Card>
  );
}

interface DomainProps {
  readonly domain: ErrorDomain;
  readonly lines: readonly ErrorLine[] | undefined;
}

/** Requests of one fault: a click opens them. */
function DomainCount({ domain, lines }: DomainProps) {
  const content = (
    <>
      <span className="size-2 rounded-[2px]" style={{ background: MEANING[domain] }} />
      <span className="text-muted">{DOMAIN_LABELS[domain]}</span>
      <span className="nums font-medium">
        {lines === undefined ? NOTHING : formatCount(lines.reduce((sum, { requests }) => sum + requests, 0))}
      </span>
    </>
  );
  const layout = '-mx-1 flex items-center gap-1.5 rounded p-1';
  if (lines === undefined || lines.length === 0) return <span className={layout}>{content}</span>;
  const codes = oneOrMany(lines.map(({ code }) => code));
  return (
    <PlaceLink {...requestsLink({ error_code: codes })} className={`${layout} hover:bg-hover`}>
      {content}
    </PlaceLink>
  );
}

const COLUMNS: readonly Column<ErrorLine>[] = [
  { header: 'Code', wraps: true, value: (line) => line.code, cell: (line) => <Mono>{line.code}</Mono> },
  { header: 'Source', value: (line) => DOMAIN_LABELS[line.domain] },
  { header: 'Requests', unit: 'count', value: (line) => line.requests },
];
