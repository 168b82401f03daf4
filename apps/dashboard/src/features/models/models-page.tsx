import { useMemo, useState } from 'react';
import { findModel, type Model, useModels } from '../../api/models';
import { useMayChange } from '../../api/session';
import { formatCount } from '../../format/format-number';
import { useOpened } from '../../range/use-opened';
import { Badge } from '../../ui/badge';
import { SearchInput, Select } from '../../ui/form';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import type { RowLink } from '../../ui/table/data-table';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { OpenedOne } from '../forms/opened-one';
import { PageFrame } from '../shell/page-frame';
import { ImportDialog } from './import-dialog';
import { describeEnd, findModels } from './prepare-prices';
import { type Editing, PriceDialog } from './price-dialog';
import { UnpricedCard } from './unpriced-card';

export function ModelsPage() {
  const { data } = useModels();
  const opened = useOpened();
  const mayChange = useMayChange();
  const [unpriced, setUnpriced] = useState<Editing['at']>(null);
  const [isImporting, setIsImporting] = useState(false);
  return (
    <PageFrame
      title="Models"
      intro={data && `${formatCount(data.length)} with a price, in USD per million tokens`}
      actions={
        <>
          <ChangeButton onClick={() => setIsImporting(true)}>Import prices</ChangeButton>
          <ChangeButton kind="primary" onClick={() => opened.open('new')}>
            <Plus /> Price a model
          </ChangeButton>
        </>
      }
    >
      <UnpricedCard onPrice={setUnpriced} />
      <PricesCard linkTo={opened.linkTo} />
      {opened.id === 'new' && mayChange && <PriceDialog of={{ at: null, model: null }} onClose={opened.close} />}
      {unpriced !== null && <PriceDialog of={{ at: unpriced, model: null }} onClose={() => setUnpriced(null)} />}
      {opened.id !== undefined && opened.id !== 'new' && <OpenedModel id={opened.id} onClose={opened.close} />}
      {isImporting && <ImportDialog onClose={() => setIsImporting(false)} />}
    </PageFrame>
  );
}

function OpenedModel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data } = useModels();
  const cut = id.indexOf(' ');
  const at = { provider: id.slice(0, Math.max(0, cut)), model: id.slice(cut + 1) };
  return (
    <OpenedOne
      what="model"
      row={data?.find((model) => keyOf(model) === id)}
      isLoaded={data !== undefined}
      queryKey={['models', at]}
      read={() => findModel(at)}
      onClose={onClose}
      nameOf={(model) => ({ resource: 'model', id: `${model.provider}/${model.model}` })}
    >
      {(model) => <PriceDialog of={{ at: model, model }} onClose={onClose} />}
    </OpenedOne>
  );
}

/** More are not drawn at once: one searches. */
const SHOWN = 100;

const keyOf = ({ provider, model }: Model) => `${provider} ${model}`;

function PricesCard({ linkTo }: { readonly linkTo: (id: string) => RowLink }) {
  const models = useModels();
  const [q, setQ] = useState('');
  const [provider, setProvider] = useState('');
  const providers = useMemo(() => [...new Set(models.data?.map((model) => model.provider))], [models.data]);
  const found = useMemo(() => models.data && findModels(models.data, { provider, q }), [models.data, provider, q]);
  return (
    <TableCard
      title="Prices"
      actions={
        <>
          <SearchInput label="Find a model" className="w-52!" value={q} onValue={setQ} />
          <Select
            aria-label="Provider"
            className="w-36"
            anyLabel="All providers"
            options={providers}
            value={provider}
            onValue={setProvider}
          />
        </>
      }
      caption="Models and prices"
      query={models}
      columns={COLUMNS}
      rows={found?.slice(0, SHOWN)}
      rowKey={keyOf}
      loadingRows={12}
      linkOf={(row) => linkTo(keyOf(row))}
      emptyTitle="No matching models"
      emptyHint="Search for another name, or set a price for your own model."
    >
      {found !== undefined && found.length > SHOWN && (
        <p className="border-t px-4 py-2 text-xs text-muted">
          Showing {SHOWN} of {formatCount(found.length)}; search to find others.
        </p>
      )}
    </TableCard>
  );
}

type Price = 'input' | 'output' | 'cache_read';
const price = (name: Price, header: string, wideOnly = false): Column<Model> => ({
  ...{ header, unit: 'price', wideOnly },
  value: (model) => model[`${name}_usd_per_million`],
});

const COLUMNS: readonly Column<Model>[] = [
  {
    header: 'Model',
    value: (model) => model.model,
    cell: (model) => (
      <span className="inline-flex max-w-full items-center gap-2">
        <span className="truncate" title={model.model}>
          {model.model}
        </span>
        {model.edited && <Badge tone="accent">edited</Badge>}
        {model.deprecation_date !== null && (
          <span className="shrink-0 max-sm:hidden">
            <Badge tone="warn">{describeEnd(model.deprecation_date, Date.now())}</Badge>
          </span>
        )}
      </span>
    ),
  },
  { header: 'Provider', value: (model) => model.provider },
  price('input', 'Input'),
  price('output', 'Output'),
  price('cache_read', 'Cache read', true),
  { header: 'Context', unit: 'compact', wideOnly: true, value: (model) => model.context_window },
  { header: 'Capabilities', wideOnly: true, value: (model) => model.capabilities.join(', ').replaceAll('_', ' ') },
];
