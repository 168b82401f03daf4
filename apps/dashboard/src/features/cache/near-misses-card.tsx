import { useQuery } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { Page } from '../../range/use-page';
import { useShowRequests } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import { type Column, timeColumn } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';

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
  const showRequests = useShowRequests();
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
  const rejectColumn: Column<NearMiss> = {
    header: 'Wrong answer',
    value: () => null,
    cell: (row) => (
      <ChangeButton
        size="small"
        kind="ghost"
        disabled={reject.isPending}
        onClick={(event) => {
          event.stopPropagation();
          reject.mutate({ project_id: row.project_id, cache_key: row.matched_key });
        }}
      >
        Take out
      </ChangeButton>
    ),
  };
  return (
    <TableCard
      title="Near misses of the semantic cache"
      caption="Near misses"
      query={{ error: misses.error ?? reject.error, refetch: misses.refetch }}
      columns={[timeColumn(timeZone), ...COLUMNS, rejectColumn]}
      rows={misses.data?.data}
      rowKey={(row) => row.id}
      loadingRows={3}
      csvName="near-misses"
      onRow={(row) => showRequests({ open: row.request_id })}
      emptyTitle="No near misses"
      emptyHint="Switch a project's semantic cache on, in shadow at first, and see here what it would have answered."
    />
  );
}

const COLUMNS: readonly Column<NearMiss>[] = [
  {
    header: 'Outcome',
    value: (row) => row.outcome,
    cell: (row) => <Badge tone={OUTCOMES[row.outcome].tone}>{row.guard ?? OUTCOMES[row.outcome].label}</Badge>,
  },
  { header: 'Similarity', unit: 'similarity', value: (row) => row.similarity },
  { header: 'Threshold', unit: 'similarity', value: (row) => row.threshold },
  { header: 'Asked', wideOnly: true, value: (row) => row.prompt },
  { header: 'Stored question', wideOnly: true, value: (row) => row.matched_prompt },
];
