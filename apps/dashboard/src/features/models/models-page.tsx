import { useMemo, useState } from 'react';
import { useChange } from '../../api/change';
import { type Model, type ModelInput, putModel, useModels, useUnpriced } from '../../api/models';
import { useMayChange } from '../../api/session';
import { formatCompact, formatCount } from '../../format/format-number';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { Input, Select } from '../../ui/field';
import { Plus } from '../../ui/icons';
import type { FieldSpec } from '../projects/prepare-form';
import { SpecForm } from '../projects/spec-form';
import { PageFrame } from '../shell/page-frame';
import { ImportDialog } from './import-dialog';
import { describeEnd } from './prepare-prices';

/** More are not drawn at once: one searches. */
const SHOWN = 100;

const PRICE_FIELDS: readonly FieldSpec[] = [
  { name: 'input_usd_per_million', label: 'Input, USD / 1M', kind: 'usd', required: true },
  { name: 'output_usd_per_million', label: 'Output, USD / 1M', kind: 'usd' },
  { name: 'cache_read_usd_per_million', label: 'Read from their cache', kind: 'usd', placeholder: 'as input' },
  { name: 'cache_write_usd_per_million', label: 'Written to their cache', kind: 'usd', placeholder: 'as input' },
  { name: 'reasoning_usd_per_million', label: 'Reasoning', kind: 'usd', placeholder: 'as output' },
  { name: 'context_window', label: 'Context, tokens', kind: 'integer' },
  { name: 'max_output_tokens', label: 'Output at most, tokens', kind: 'integer' },
];
const NAME_FIELDS: readonly FieldSpec[] = [
  { name: 'provider', label: 'Provider', kind: 'text', required: true },
  { name: 'model', label: 'Model', kind: 'text', required: true },
];

interface Editing {
  readonly at: { readonly provider: string; readonly model: string } | null;
  readonly model: Model | null;
}

export function ModelsPage() {
  const models = useModels();
  const mayChange = useMayChange();
  const [q, setQ] = useState('');
  const [provider, setProvider] = useState('');
  const [editing, setEditing] = useState<Editing | null>(null);
  const [isImporting, setIsImporting] = useState(false);
  const providers = useMemo(() => [...new Set(models.data?.map((model) => model.provider))], [models.data]);
  const found = useMemo(
    () =>
      models.data?.filter(
        (model) =>
          (provider === '' || model.provider === provider) &&
          `${model.provider}/${model.model}`.toLowerCase().includes(q.toLowerCase()),
      ),
    [models.data, provider, q],
  );
  return (
    <PageFrame
      title="Models"
      intro={models.data && `${formatCount(models.data.length)} with a price, in USD per million tokens`}
      actions={
        <>
          <Button disabled={!mayChange} onClick={() => setIsImporting(true)}>
            Import prices
          </Button>
          <Button kind="primary" disabled={!mayChange} onClick={() => setEditing({ at: null, model: null })}>
            <Plus /> Price a model
          </Button>
        </>
      }
    >
      <Unpriced onPrice={(at) => setEditing({ at, model: null })} />
      <Card
        title="Prices"
        flush
        actions={
          <>
            <Input
              type="search"
              aria-label="Find a model"
              placeholder="Find a model"
              className="w-52!"
              value={q}
              onChange={(event) => setQ(event.target.value)}
            />
            <Select
              aria-label="Provider"
              className="w-36"
              value={provider}
              onChange={(event) => setProvider(event.target.value)}
            >
              <option value="">All providers</option>
              {providers.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          </>
        }
      >
        {models.error && <ErrorState error={models.error} onRetry={() => void models.refetch()} />}
        <DataTable
          caption="Models and prices"
          columns={COLUMNS}
          rows={found?.slice(0, SHOWN)}
          rowKey={(row) => `${row.provider} ${row.model}`}
          loadingRows={12}
          onRow={(model) => setEditing({ at: model, model })}
          empty={
            <EmptyState title="No model matches">Search for another name, or price a model of your own.</EmptyState>
          }
        />
        {(found?.length ?? 0) > SHOWN && (
          <p className="border-t px-4 py-2 text-xs text-muted">
            Showing {SHOWN} of {formatCount(found?.length ?? 0)}; search to find others.
          </p>
        )}
      </Card>
      {editing !== null && <PriceDialog editing={editing} onClose={() => setEditing(null)} />}
      {isImporting && <ImportDialog onClose={() => setIsImporting(false)} />}
    </PageFrame>
  );
}

function PriceDialog({ editing, onClose }: { readonly editing: Editing; readonly onClose: () => void }) {
  const mayChange = useMayChange();
  const save = useChange({
    run: ({ provider, model, ...prices }: Record<string, unknown>) =>
      putModel(editing.at ?? { provider: String(provider), model: String(model) }, prices as unknown as ModelInput),
    affects: [['models']],
    done: 'The price holds from the next request on',
  });
  const pick = ({ provider, model }: { provider: string; model: string }) => ({ provider, model });
  return (
    <Dialog
      title={editing.at === null ? 'Price a model' : `${editing.at.provider} / ${editing.at.model}`}
      description={editing.model === null ? undefined : sourceOf(editing.model)}
      open
      onClose={onClose}
    >
      <SpecForm
        specs={editing.at === null ? [...NAME_FIELDS, ...PRICE_FIELDS] : PRICE_FIELDS}
        resource={editing.model ?? editing.at}
        submitLabel="Save price"
        isPending={save.isPending}
        error={save.error}
        disabled={!mayChange}
        onSubmit={(body) =>
          save.mutate(
            { ...keptPrices(editing.model), ...(editing.at === null ? {} : pick(editing.at)), ...body },
            { onSuccess: onClose },
          )
        }
      />
    </Dialog>
  );
}

const sourceOf = (model: Model) =>
  model.edited ? 'Set by an operator' : `As shipped, from ${model.source ?? 'the catalogue'}`;

/** Prices are replaced as a whole: classes and variants the form does not show stay as they are. */
function keptPrices(model: Model | null): Record<string, unknown> {
  const shown = new Set(PRICE_FIELDS.map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(model ?? {}).filter(
      ([name, value]) => name.endsWith('_usd_per_million') && !shown.has(name) && value !== null,
    ),
  );
}

function Unpriced({ onPrice }: { readonly onPrice: (at: { provider: string; model: string }) => void }) {
  const { data } = useUnpriced();
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Card title="Without a price" className="border-warn">
      <p className="mb-2 text-muted">These answered in the last 7 days and are booked at $0.</p>
      <ul className="grid gap-1">
        {data.data.map((at) => (
          <li key={`${at.provider} ${at.model}`} className="flex items-center justify-between gap-3">
            <span className="truncate">
              {at.provider} / {at.model}
            </span>
            <span className="flex shrink-0 items-center gap-3">
              <span className="nums text-muted">{formatCount(at.requests)} requests</span>
              <Button size="small" onClick={() => onPrice({ provider: at.provider, model: at.model })}>
                Set price
              </Button>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const price = (id: keyof Model & string, header: string, wideOnly = false): Column<Model> => ({
  id,
  header,
  align: 'right',
  wideOnly,
  value: (model) => (typeof model[id] === 'number' ? model[id] : null),
  cell: (model) => (typeof model[id] === 'number' ? `$${model[id].toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}` : '–'),
});

const COLUMNS: readonly Column<Model>[] = [
  {
    id: 'model',
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
  { id: 'provider', header: 'Provider', value: (model) => model.provider },
  price('input_usd_per_million', 'Input'),
  price('output_usd_per_million', 'Output'),
  price('cache_read_usd_per_million', 'Cache read', true),
  {
    id: 'context',
    header: 'Context',
    align: 'right',
    wideOnly: true,
    value: (model) => model.context_window,
    cell: (model) => (model.context_window === null ? '–' : formatCompact(model.context_window)),
  },
  {
    id: 'capabilities',
    header: 'Can',
    wideOnly: true,
    value: (model) => model.capabilities.join(', ').replaceAll('_', ' '),
  },
];
