import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { InferResponseType } from 'hono/client';
import { useMemo } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useMayChange } from '../../api/session';
import { formatStamp } from '../../format/format-time';
import type { Page } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';

type NearMiss = InferResponseType<(typeof api.cache)['near-misses']['$get']>['data'][number];

const OUTCOMES = {
  served: { label: 'served', tone: 'good' },
  shadow: { label: 'in shadow', tone: 'accent' },
  refused: { label: 'refused by a guard', tone: 'warn' },
  below: { label: 'below the threshold', tone: 'neutral' },
} as const;
const LIMIT = '100';

/** Questions that came near an answer in the semantic cache, and why they did not get it. */
export function NearMissesCard({ page }: { readonly page: Page }) {
  const { projectId, timeZone } = page;
  const navigate = useNavigate();
  const mayChange = useMayChange();
  const query = { limit: LIMIT, ...(projectId === undefined ? {} : { project_id: projectId }) };
  const misses = useQuery({
    queryKey: ['cache', 'near-misses', query],
    queryFn: () => read(api.cache['near-misses'].$get({ query })),
  });
  const reject = useChange({
    run: (json: { project_id: string; cache_key: string }) => read(api.cache.reject.$post({ json })),
    affects: [['cache']],
    done: 'The stored answer is taken out of the caches',
  });
  const columns = useMemo<Column<NearMiss>[]>(
    () => [
      {
        id: 'time',
        header: 'Time',
        value: (row) => row.created_at,
        cell: (row) => <span className="nums">{formatStamp(row.created_at, timeZone)}</span>,
      },
      {
        id: 'outcome',
        header: 'Outcome',
        value: (row) => row.outcome,
        cell: (row) => <Badge tone={OUTCOMES[row.outcome].tone}>{row.guard ?? OUTCOMES[row.outcome].label}</Badge>,
      },
      {
        id: 'similarity',
        header: 'Similarity',
        align: 'right',
        value: (row) => row.similarity,
        cell: (row) => row.similarity.toFixed(4),
      },
      {
        id: 'threshold',
        header: 'Threshold',
        align: 'right',
        value: (row) => row.threshold,
        cell: (row) => row.threshold.toFixed(4),
      },
      { id: 'asked', header: 'Asked', wideOnly: true, value: (row) => row.prompt },
      { id: 'stored', header: 'Stored question', wideOnly: true, value: (row) => row.matched_prompt },
      {
        id: 'reject',
        header: 'Wrong answer',
        value: () => null,
        cell: (row) => (
          <Button
            size="small"
            kind="ghost"
            disabled={!mayChange || reject.isPending}
            onClick={(event) => {
              event.stopPropagation();
              reject.mutate({ project_id: row.project_id, cache_key: row.matched_key });
            }}
          >
            Take out
          </Button>
        ),
      },
    ],
    [timeZone, mayChange, reject.isPending, reject.mutate],
  );
  return (
    <Card title="Near misses of the semantic cache" flush>
      {(misses.error ?? reject.error) && (
        <ErrorState error={(misses.error ?? reject.error) as Error} onRetry={() => void misses.refetch()} />
      )}
      <DataTable
        caption="Near misses"
        columns={columns}
        rows={misses.data?.data}
        rowKey={(row) => row.id}
        loadingRows={3}
        csvName="near-misses"
        onRow={(row) => void navigate({ to: '/requests', search: (kept) => ({ ...kept, open: row.request_id }) })}
        empty={
          <EmptyState title="No near misses">
            Switch a project's semantic cache on, in shadow at first, and see here what it would have answered.
          </EmptyState>
        }
      />
    </Card>
  );
}
