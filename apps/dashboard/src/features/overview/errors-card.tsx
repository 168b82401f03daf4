import { useNavigate } from '@tanstack/react-router';
import { type StatsQuery, useErrors } from '../../api/stats';
import { MEANING } from '../../charts/series-colors';
import { formatCount } from '../../format/format-number';
import { Card } from '../../ui/card';
import { DataTable } from '../../ui/data-table';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { DOMAIN_LABELS, type ErrorDomain, type ErrorLine, prepareErrors } from './prepare-overview';

/** What failed or was refused, by whose fault it is. */
export function ErrorsCard({ query }: { readonly query: StatsQuery }) {
  const errors = useErrors({ ...query, interval: 'all', group_by: 'error_code' });
  const navigate = useNavigate();
  const lines = errors.data && prepareErrors(errors.data.buckets);
  const byDomain = (domain: ErrorDomain) =>
    lines?.filter((line) => line.domain === domain).reduce((sum, { requests }) => sum + requests, 0) ?? 0;
  return (
    <Card title="Errors and refusals" flush>
      {errors.error && <ErrorState error={errors.error} onRetry={() => void errors.refetch()} />}
      <ul className="flex flex-wrap gap-x-6 gap-y-1 border-b px-4 pt-1 pb-3">
        {(Object.keys(DOMAIN_LABELS) as ErrorDomain[]).map((domain) => (
          <li key={domain} className="flex items-center gap-1.5">
            <span className="size-2 rounded-[2px]" style={{ background: MEANING[domain] }} />
            <span className="text-muted">{DOMAIN_LABELS[domain]}</span>
            <span className="nums font-medium">{formatCount(byDomain(domain))}</span>
          </li>
        ))}
      </ul>
      <DataTable<ErrorLine>
        caption="Error codes"
        rows={lines}
        rowKey={(line) => line.code}
        loadingRows={3}
        sortBy={{ id: 'requests', desc: true }}
        columns={COLUMNS}
        onRow={(line) => void navigate({ to: '/requests', search: (kept) => ({ ...kept, q: line.code }) })}
        empty={<EmptyState title="No errors in this range" />}
      />
    </Card>
  );
}

const COLUMNS = [
  {
    id: 'code',
    header: 'Code',
    value: (line: ErrorLine) => line.code,
    cell: (line: ErrorLine) => <code className="font-mono text-xs">{line.code}</code>,
  },
  { id: 'domain', header: 'Whose', value: (line: ErrorLine) => DOMAIN_LABELS[line.domain] },
  {
    id: 'requests',
    header: 'Requests',
    align: 'right' as const,
    value: (line: ErrorLine) => line.requests,
    cell: (line: ErrorLine) => formatCount(line.requests),
  },
];
