import { useMemo, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type ProviderInput, useProviders } from '../../api/routing';
import { useMayChange } from '../../api/session';
import { answersOf, useLatency, useProviderHealth } from '../../api/stats';
import { SeriesName } from '../../charts/series-name';
import { SparkBars } from '../../charts/spark/spark-bars';
import { asStep, barTimes } from '../../charts/strip/prepare-strip';
import { formatCount, formatShare, NOTHING } from '../../format/format-number';
import { RangePicker } from '../../range/range-picker';
import { rangeQuery, untilNow } from '../../range/time-range';
import { useOpened } from '../../range/use-opened';
import { type Page, useNow, usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { ManagedMark } from '../forms/managed-set';
import { OpenedOne } from '../forms/opened-one';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { ProviderNameField } from '../forms/suggested-fields';
import {
  describeBars,
  HOUR_MS,
  MOST_BARS,
  type ProviderBars,
  prepareProviderBars,
  sumOf,
} from './prepare-provider-bars';
import { type ProviderLine, prepareProviders } from './prepare-routing';
import { ProviderDialog } from './provider-dialog';

const STEP_MS = 60_000;

export function ProvidersCard() {
  const providers = useProviders();
  const page = usePage();
  const { now, health, latency } = useFared(page);
  const { times, bars } = useBars(page);
  const { id, linkTo, open, close } = useOpened();
  const mayChange = useMayChange();
  const lines = useMemo(
    () =>
      providers.data &&
      bars &&
      prepareProviders(providers.data.data, {
        now: now.data?.buckets ?? [],
        health: health.data?.buckets ?? [],
        latency: latency.data?.buckets ?? [],
      }),
    [providers.data, bars, now.data, health.data, latency.data],
  );
  const [isAll, setAll] = useState(false);
  const inUse = lines?.filter(isUsed);
  const idle = (lines?.length ?? 0) - (inUse?.length ?? 0);
  const opened = lines?.find(({ name }) => name === id);
  return (
    <TableCard
      title="Providers"
      actions={
        <>
          <RangePicker page={page} />
          {idle > 0 && <IdleButton count={idle} isShown={isAll} onShow={setAll} />}
          <ChangeButton onClick={() => open('new')}>
            <Plus /> Add provider
          </ChangeButton>
        </>
      }
      caption="Providers"
      query={providers}
      columns={[...COLUMNS, barsColumn(bars, times.intervalMs), BASE_URL]}
      rows={isAll ? lines : inUse}
      rowKey={(row) => row.name}
      linkOf={(row) => linkTo(row.name)}
    >
      {id === 'new' && mayChange && <NewProvider onClose={close} />}
      {id !== undefined && id !== 'new' && (
        <OpenedOne
          what="provider"
          row={opened}
          isLoaded={lines !== undefined}
          queryKey={['providers', id]}
          // All of them are listed.
          read={() => Promise.resolve(null)}
          onClose={close}
          nameOf={({ name }) => ({ resource: 'provider', id: name })}
        >
          {(provider) => <ProviderDialog of={provider} onClose={close} />}
        </OpenedOne>
      )}
    </TableCard>
  );
}

/** Shows and hides providers without keys. */
function IdleButton({
  count,
  isShown,
  onShow,
}: {
  readonly count: number;
  readonly isShown: boolean;
  readonly onShow: (isShown: boolean) => void;
}) {
  return (
    <Button kind="ghost" aria-pressed={isShown} onClick={() => onShow(!isShown)}>
      {isShown ? 'Only those in use' : `${count} more not set up`}
    </Button>
  );
}

/** The last hour, which tells health, and the figures of the range. */
function useFared({ range }: Page) {
  const toMs = untilNow(useNow(STEP_MS));
  const asked = rangeQuery(range);
  return {
    now: useProviderHealth({ ...rangeQuery({ fromMs: toMs - HOUR_MS, toMs }), interval: 'all' }),
    health: useProviderHealth({ ...asked, interval: 'all' }),
    latency: useLatency({ ...asked, ...answersOf('upstream'), interval: 'all', group_by: 'provider' }, 'upstream'),
  };
}

/** Requests of each provider over time; empty if they can't be read, undefined while they load. */
function useBars({ range }: Page) {
  const times = useMemo(() => barTimes(range, MOST_BARS), [range]);
  const { data, error } = useProviderHealth({ ...rangeQuery(range), interval: asStep(times.intervalMs) });
  const bars = useMemo(() => {
    if (data === undefined && error === null) return undefined;
    return prepareProviderBars(data?.buckets ?? [], times);
  }, [data, error, times]);
  return { times, bars };
}

const barsColumn = (bars: ReadonlyMap<string, ProviderBars> | undefined, intervalMs: number): Column<ProviderLine> => ({
  ...{ header: 'Over time', align: 'right', wideOnly: 'very' },
  value: ({ name }) => sumOf(bars?.get(name)?.requests ?? []),
  cell: ({ name }) => {
    const own = bars?.get(name);
    if (own === undefined) return NOTHING;
    return (
      <span className="inline-flex items-center gap-2 align-middle">
        <SparkBars values={own.requests} marked={own.failed} label={describeBars(own, intervalMs)} />
      </span>
    );
  },
});

const isUsed = ({ is_configured: isSetUp, requests }: ProviderLine) => isSetUp || requests > 0;

/** What a provider that nobody set up has none of is no zero. */
const ifUsed = (line: ProviderLine, count: number) => (isUsed(line) ? count : null);

const COLUMNS: readonly Column<ProviderLine>[] = [
  {
    header: 'Provider',
    value: (row) => row.name,
    cell: (row) => (
      <span className="inline-flex max-w-full items-center gap-2">
        <SeriesName name={row.name} />
        <ManagedMark resource="provider" id={row.name} />
      </span>
    ),
  },
  { header: 'Health now', value: (row) => row.health.label, tone: (row) => row.health.tone },
  {
    header: 'Models with problems',
    unit: 'count',
    wideOnly: true,
    value: (row) => ifUsed(row, row.targets.filter(({ state }) => state !== 'closed').length),
  },
  { header: 'Stored keys', unit: 'count', wideOnly: 'most', value: (row) => ifUsed(row, row.keys.length) },
  { header: 'Requests sent', unit: 'count', value: (row) => ifUsed(row, row.requests) },
  {
    ...{ header: 'Failed there', unit: 'share', value: (row) => row.errorRate },
    cell: ({ failed, errorRate }) =>
      errorRate === null ? NOTHING : `${formatCount(failed)} (${formatShare(errorRate)})`,
  },
  { header: 'Answered elsewhere', unit: 'count', wideOnly: true, value: (row) => ifUsed(row, row.elsewhere) },
  { header: 'Upstream p95', unit: 'percentile', wideOnly: true, value: (row) => row.p95Ms },
];
const BASE_URL: Column<ProviderLine> = { header: 'Base URL', wideOnly: 'most', value: (row) => row.base_url };

const NEW_FIELDS: readonly FieldSpec[] = [
  {
    name: 'name',
    label: 'Name',
    kind: 'text',
    required: true,
    widget: ProviderNameField,
    hint: 'A known vendor, or a name of your own',
    placeholder: 'my-server',
  },
  {
    name: 'base_url',
    label: 'Base URL',
    kind: 'text',
    placeholder: 'vendor default',
    hint: 'Ends in /v1 for OpenAI-compatible servers',
  },
  { name: 'key', label: 'Key', kind: 'text', secret: true, hint: 'Stored encrypted and never shown again' },
];

function NewProvider({ onClose }: { readonly onClose: () => void }) {
  const create = useChange({
    run: (json: ProviderInput) => read(api.providers.$post({ json })),
    affects: [['providers'], ['system']],
    done: 'Provider added',
  });
  return (
    <SpecDialog
      title="Add a provider"
      description="A known vendor with its key, or any OpenAI-compatible server."
      onClose={onClose}
      specs={NEW_FIELDS}
      resource={null}
      submitLabel="Add provider"
      change={create}
      onSubmit={({ key, ...body }) =>
        create.mutate({ ...body, ...(key === null ? {} : { key }) } as unknown as ProviderInput, {
          onSuccess: onClose,
        })
      }
    />
  );
}
