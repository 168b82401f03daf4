import type { AnswerFrom } from '@llm0/gateway/admin/route-types';
import { useQuery } from '@tanstack/react-query';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { Page } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import { type Column, timeColumn } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ConfirmButton } from '../forms/confirm-button';

type NearMiss = AnswerFrom<(typeof api.cache)['near-misses']['$get']>['data'][number];

const OUTCOMES = {
  served: { label: 'served', tone: 'good' },
  shadow: { label: 'shadow mode', tone: 'accent' },
  refused: { label: 'refused by a guard', tone: 'warn' },
  below: { label: 'below the threshold', tone: 'neutral' },
} as const;
const LIMIT = '100';

/** Near misses of the semantic cache, with the reasons. */
export function NearMissesCard({ page }: { readonly page: Page }) {
  const { projectId, timeZone } = page;
  const query = { limit: LIMIT, ...(projectId === undefined ? {} : { project_id: projectId }) };
  const misses = useQuery({
    queryKey: ['cache', 'near-misses', query],
    queryFn: () => read(api.cache['near-misses'].$get({ query })),
  });
  const reject = useChange({
    run: (json: { project_id: string; cache_key: string }) => read(api.cache.reject.$post({ json })),
    affects: [['cache']],
    done: 'Answer removed from the caches',
  });
  const rejectColumn: Column<NearMiss> = {
    header: 'Wrong answer',
    value: () => null,
    cell: (row) => (
      <ConfirmButton
        size="small"
        kind="ghost"
        title="Remove this answer from the caches?"
        impact="The next request with the stored question goes to the model and is charged."
        confirmLabel="Remove answer"
        change={reject}
        onConfirm={(close) =>
          reject.mutate({ project_id: row.project_id, cache_key: row.matched_key }, { onSuccess: close })
        }
      >
        Remove
      </ConfirmButton>
    ),
  };
  return (
    <TableCard
      title="Near misses of the semantic cache"
      caption="Near misses"
      query={misses}
      columns={[timeColumn(timeZone), ...COLUMNS, rejectColumn]}
      rows={misses.data?.data}
      rowKey={(row) => row.id}
      loadingRows={3}
      csvName="near-misses"
      linkOf={(row) => requestsLink({ open: row.request_id })}
      emptyTitle="No near misses"
      emptyHint="Requests that almost matched show here while a project's semantic cache is on or in shadow mode."
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
  { header: 'Question', wideOnly: true, value: (row) => row.prompt },
  { header: 'Stored question', wideOnly: true, value: (row) => row.matched_prompt },
];
