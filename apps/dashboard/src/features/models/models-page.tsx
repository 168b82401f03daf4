import { useMemo, useState } from 'react';
import { findModel, useUnpriced } from '../../api/models';
import { useMayChange } from '../../api/session';
import { SeriesName } from '../../charts/series-name';
import { countOf, formatCount, formatEstimate, formatShare } from '../../format/format-number';
import { useOpened } from '../../range/use-opened';
import { type Page, usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Failure } from '../../ui/error-state';
import { SearchInput, Select } from '../../ui/form';
import { Plus } from '../../ui/icons';
import { WRAPPED_NAME } from '../../ui/name';
import type { Place } from '../../ui/place-link';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { ManagedMark } from '../forms/managed-set';
import { OpenedOne } from '../forms/opened-one';
import { PageFrame } from '../shell/page-frame';
import { BubblesCard } from './bubbles-card';
import { ImportDialog } from './import-dialog';
import { ModelFacts } from './model-facts';
import type { ModelLine } from './prepare-models';
import { describeEnd, findModels } from './prepare-prices';
import { type Editing, PriceDialog } from './price-dialog';
import { UnpricedCard } from './unpriced-card';
import { useModelLines } from './use-model-lines';

export function ModelsPage() {
  const page = usePage();
  const used = useModelLines(page);
  const unpricedModels = useUnpriced();
  const { data } = used.models;
  const inUse = used.lines?.filter(({ use }) => use !== null).length ?? 0;
  const opened = useOpened();
  const mayChange = useMayChange();
  const [unpriced, setUnpriced] = useState<Editing['at']>(null);
  const [isImporting, setIsImporting] = useState(false);
  return (
    <PageFrame
      title="Models"
      page={page}
      // Its line is there from the beginning.
      intro={data ? `${formatCount(data.length)} with a price, ${formatCount(inUse)} in use` : '\u00a0'}
      actions={
        <>
          <ChangeButton onClick={() => setIsImporting(true)}>Import prices</ChangeButton>
          <ChangeButton kind="primary" onClick={() => opened.open('new')}>
            <Plus /> Price a model
          </ChangeButton>
        </>
      }
    >
      {/* What comes later would move everything below it. */}
      {(unpricedModels.data !== undefined || unpricedModels.error !== null) && (
        <>
          <UnpricedCard onPrice={setUnpriced} />
          <BubblesCard lines={used.lines} />
          <PricesCard {...used} linkTo={opened.linkTo} />
        </>
      )}
      {opened.id === 'new' && mayChange && <PriceDialog of={{ at: null, model: null }} onClose={opened.close} />}
      {unpriced !== null && <PriceDialog of={{ at: unpriced, model: null }} onClose={() => setUnpriced(null)} />}
      {opened.id !== undefined && opened.id !== 'new' && (
        <OpenedModel id={opened.id} onClose={opened.close} lines={used.lines} page={page} />
      )}
      {isImporting && <ImportDialog onClose={() => setIsImporting(false)} />}
    </PageFrame>
  );
}

interface OpenedProps {
  readonly id: string;
  readonly lines: readonly ModelLine[] | undefined;
  readonly page: Page;
  readonly onClose: () => void;
}

function OpenedModel({ id, lines, page, onClose }: OpenedProps) {
  const cut = id.indexOf(' ');
  const at = { provider: id.slice(0, Math.max(0, cut)), model: id.slice(cut + 1) };
  return (
    <OpenedOne
      what="model"
      // Lists lack some of its prices.
      row={undefined}
      isLoaded
      queryKey={['models', at]}
      read={() => findModel(at)}
      onClose={onClose}
      nameOf={(model) => ({ resource: 'model', id: `${model.provider}/${model.model}` })}
    >
      {(model) => (
        <PriceDialog of={{ at: model, model }} onClose={onClose}>
          <ModelFacts model={model} page={page} line={lines?.find((line) => keyOf(line) === id)} />
        </PriceDialog>
      )}
    </OpenedOne>
  );
}

/** More are not drawn at once: one searches. */
const SHOWN = 100;

/** In use, or with a price that an operator set. */
const isKnown = ({ use, listed }: ModelLine) => use !== null || listed?.edited === true;

const keyOf = ({ provider, model }: ModelLine) => `${provider} ${model}`;

interface PricesProps extends ReturnType<typeof useModelLines> {
  readonly linkTo: (id: string) => Place;
}

/** Models in use, then all others. */
function PricesCard({ models, lines, failed, linkTo }: PricesProps) {
  const [q, setQ] = useState('');
  const [provider, setProvider] = useState('');
  const [isAll, setIsAll] = useState(false);
  const providers = useMemo(() => [...new Set(models.data?.map((model) => model.provider))], [models.data]);
  const found = useMemo(() => lines && findModels(lines, { provider, q }), [lines, provider, q]);
  const known = useMemo(() => found?.filter(isKnown), [found]);
  // A search goes through all of them; a new gateway has none in use.
  const isFolded = !isAll && q === '' && provider === '' && known !== undefined && known.length > 0;
  const rows = isFolded ? known : found;
  return (
    <TableCard
      title="Prices, in USD per million tokens"
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
      note="Shares are of requests to known models, cache hits included. Requests that the gateway refused do not count."
      caption="Models and prices"
      query={models}
      above={failed && <Failure of={failed} />}
      columns={COLUMNS}
      rows={rows?.slice(0, SHOWN)}
      rowKey={keyOf}
      loadingRows={12}
      linkOf={(row) => (row.listed === null ? undefined : linkTo(keyOf(row)))}
      emptyTitle="No matching models"
      emptyHint="Search for another name, or set a price for your own model."
    >
      {isFolded && found !== undefined && found.length > known.length && (
        <p className="border-t px-4 py-2">
          <Button size="small" kind="ghost" onClick={() => setIsAll(true)}>
            Show {countOf(found.length - known.length, 'model')} not in use
          </Button>
        </p>
      )}
      {rows !== undefined && rows.length > SHOWN && (
        <p className="border-t px-4 py-2 text-xs text-muted">
          Showing {SHOWN} of {formatCount(rows.length)}; search to find others.
        </p>
      )}
    </TableCard>
  );
}

type Price = 'input' | 'output' | 'cache_read';
const price = (name: Price, header: string, wideOnly?: 'most'): Column<ModelLine> => ({
  ...{ header, unit: 'price', wideOnly },
  value: ({ listed }) => listed?.[`${name}_usd_per_million`] ?? null,
});

function Name({ model, listed, use }: ModelLine) {
  const ends = listed?.deprecation_date;
  return (
    <>
      <span className="inline-flex max-w-full items-center gap-2">
        {use === null ? (
          <span className={`truncate max-sm:text-2xs ${WRAPPED_NAME}`} title={model}>
            {model}
          </span>
        ) : (
          <SeriesName name={model} wraps />
        )}
        {listed === null && <Badge tone="warn">no price</Badge>}
        {listed !== null && <ManagedMark resource="model" id={`${listed.provider}/${model}`} />}
        {listed?.edited && <Badge tone="accent">edited</Badge>}
      </span>
      {/* Phones have no columns for them. */}
      <span className="block text-2xs whitespace-normal text-muted md:hidden">
        {use !== null && <span className="block">p95 {formatEstimate(use.p95Ms)}</span>}
        {use !== null && <span className="block">{formatShare(use.errorRate)} failed</span>}
        {ends && <span className="block text-warn">{describeEnd(ends, Date.now())}</span>}
      </span>
    </>
  );
}

/** Shares and errors of the range. */
const COLUMNS: readonly Column<ModelLine>[] = [
  {
    header: 'Model',
    value: ({ model }) => model,
    cell: (line) => <Name {...line} />,
  },
  { header: 'Provider', wideOnly: true, value: ({ provider }) => provider },
  { header: 'Share of requests', unit: 'share', value: ({ use }) => use?.share ?? null },
  price('input', 'Input'),
  price('output', 'Output'),
  { header: 'Upstream p95', unit: 'percentile', wideOnly: true, value: ({ use }) => use?.p95Ms ?? null },
  { header: 'Failed in the end', unit: 'share', wideOnly: true, value: ({ use }) => use?.errorRate ?? null },
  {
    header: 'Retires',
    wideOnly: true,
    value: ({ listed }) => listed?.deprecation_date ?? null,
    cell: ({ listed }) =>
      listed?.deprecation_date && <Badge tone="warn">{describeEnd(listed.deprecation_date, Date.now())}</Badge>,
  },
  price('cache_read', 'Cache read', 'most'),
  { header: 'Context', unit: 'compact', wideOnly: 'most', value: ({ listed }) => listed?.context_window ?? null },
  {
    header: 'Capabilities',
    wideOnly: 'most',
    value: ({ listed }) => listed?.capabilities.join(', ').replaceAll('_', ' ') ?? null,
  },
];
