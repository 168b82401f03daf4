import { useMemo } from 'react';
import { useKeyNames, useProjectNames } from '../../api/projects';
import { useSpendTable } from '../../api/stats';
import { HeatTable } from '../../charts/heat/heat-table';
import { SeriesName } from '../../charts/series-name';
import { formatInstant } from '../../format/format-time';
import { useChoice } from '../../range/use-choice';
import type { Page } from '../../range/use-page';
import { Card } from '../../ui/card';
import { EmptyState } from '../../ui/empty-state';
import { Failure } from '../../ui/error-state';
import { Segmented } from '../../ui/segmented';
import { ACROSS, type Across, prepareTable } from './prepare-table';

/** Rows and columns with names of their own. */
const SHOWN = '8';

/** Spend of models by customer, project or key; a cell opens its requests. */
export function SpendTableCard({ page }: { readonly page: Page }) {
  const [across, setAcross] = useChoice<Across>('across', ['customer', 'project', 'key', 'modality']);
  return (
    <Card
      title={`Spend by model and ${ACROSS[across].toLowerCase()}`}
      actions={<Segmented label="Columns" options={ACROSS} value={across} onChange={setAcross} />}
    >
      {/* Cells of other columns must not stay while these load. */}
      <Table key={across} {...{ page, across }} />
    </Card>
  );
}

const keyOf = (name: string | null) => (name === null ? 'total' : `of ${name}`);

function Table({ page, across }: { readonly page: Page; readonly across: Across }) {
  const table = useSpendTable({ ...page.query, columns: across, top: SHOWN });
  const { cells, partial_from: partialFrom = null } = table.data ?? {};
  const projectName = useProjectNames();
  const keyName = useKeyNames(across === 'key' ? (cells?.map(({ column }) => column) ?? []) : []);
  const { to } = page.query;
  const { heads, rows } = useMemo(() => {
    const labelOf = { customer: String, modality: String, project: projectName, key: keyName }[across];
    const range = partialFrom === null ? undefined : { from: partialFrom, to };
    return prepareTable({ cells: cells ?? [], across, labelOf, range });
  }, [cells, across, partialFrom, to, projectName, keyName]);
  return (
    <>
      <Failure of={table} />
      {cells === undefined && <div className="h-48 rounded bg-hover/60" aria-busy={table.error === null} />}
      {partialFrom !== null && (
        <p className="mb-2 text-xs text-muted">
          Only since {formatInstant(partialFrom, page.timeZone)}: {ACROSS[across].toLowerCase()} and model together are
          read from single requests. The list below covers the whole range.
        </p>
      )}
      {cells?.length === 0 && <EmptyState title="No spend in this range">Choose a longer range.</EmptyState>}
      {cells !== undefined && cells.length > 0 && (
        <HeatTable
          caption={`Spend by model and ${ACROSS[across].toLowerCase()}`}
          corner="Model"
          heads={heads.map(({ name, label }) => ({
            key: keyOf(name),
            label: (
              <span className="block truncate" title={label}>
                {label}
              </span>
            ),
          }))}
          rows={rows.map(({ name, label, cells }) => ({
            key: keyOf(name),
            head: name === null ? <span className="font-medium">{label}</span> : <SeriesName {...{ name, label }} />,
            cells,
          }))}
          opens="the dearest requests"
        />
      )}
    </>
  );
}
