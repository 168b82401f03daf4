import { type PromptCache, usePromptCaches } from '../../api/stats';
import { SeriesName } from '../../charts/series-name';
import { formatTarget, namesOfModels } from '../../format/format-target';
import { SAVED } from '../../format/saved-labels';
import type { Page } from '../../range/use-page';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';

/** Prompt tokens read from providers' caches. Session affinity raises the share. */
export function PromptCachesCard({ page }: { readonly page: Page }) {
  const caches = usePromptCaches(page.query);
  return (
    <TableCard
      title="Prompt caches of vendors"
      caption="Prompt caches of vendors"
      query={caches}
      columns={columnsOf(caches.data?.data ?? [])}
      rows={caches.data?.data}
      rowKey={formatTarget}
      sortBy={SAVED.byPromptCaches}
      csvName="prompt-caches"
      emptyTitle="No cached tokens in this range"
      emptyHint="Vendors report what they read from their prompt caches with each answer."
    />
  );
}

const columnsOf = (rows: readonly PromptCache[]): readonly Column<PromptCache>[] => [nameColumn(rows), ...COLUMNS];

/** Phones have no room for the provider's own column. */
function nameColumn(rows: readonly PromptCache[]): Column<PromptCache> {
  const nameOf = namesOfModels(rows);
  return {
    header: 'Model',
    value: (row) => row.model,
    cell: (row) => <SeriesName wraps name={row.model} label={nameOf(row)} />,
  };
}

const COLUMNS: readonly Column<PromptCache>[] = [
  { header: 'Provider', value: (row) => row.provider, wideOnly: true },
  { header: 'Tokens read', unit: 'count', value: (row) => row.tokens_cache_read },
  { header: 'Tokens written', unit: 'count', wideOnly: true, value: (row) => row.tokens_cache_write },
  { header: SAVED.byPromptCaches, unit: 'usd', value: (row) => row.saved_usd },
];
