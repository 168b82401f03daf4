import { useMemo } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type ProviderInput, useFailoverCounts, useProviders } from '../../api/routing';
import { useMayChange } from '../../api/session';
import { useErrors, useLatency } from '../../api/stats';
import { SeriesName } from '../../charts/series-name';
import { rangeQuery, untilNow } from '../../range/time-range';
import { useOpened } from '../../range/use-opened';
import { useNow } from '../../range/use-page';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { OpenedOne } from '../forms/opened-one';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { ProviderNameField } from '../forms/suggested-fields';
import { type ProviderLine, prepareProviders } from './prepare-routing';
import { ProviderDialog } from './provider-dialog';

const HOUR_MS = 3_600_000;
const STEP_MS = 60_000;

export function ProvidersCard() {
  const providers = useProviders();
  const nowMs = useNow(STEP_MS);
  const toMs = untilNow(nowMs);
  const lastHour = rangeQuery({ fromMs: toMs - HOUR_MS, toMs });
  const grouped = { ...lastHour, interval: 'all', group_by: 'provider' };
  const errors = useErrors(grouped);
  const latency = useLatency(grouped, 'upstream');
  const failovers = useFailoverCounts(lastHour);
  const { id, linkTo, open, close } = useOpened();
  const mayChange = useMayChange();
  const lines = useMemo(
    () =>
      providers.data &&
      prepareProviders(providers.data.data, {
        errors: errors.data?.buckets ?? [],
        failovers: failovers.data?.data ?? [],
        latency: latency.data?.buckets ?? [],
      }),
    [providers.data, errors.data, failovers.data, latency.data],
  );
  const opened = lines?.find(({ name }) => name === id);
  return (
    <TableCard
      title="Providers, over the last hour"
      actions={
        <ChangeButton onClick={() => open('new')}>
          <Plus /> Add provider
        </ChangeButton>
      }
      caption="Providers"
      query={providers}
      columns={COLUMNS}
      rows={lines}
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

const COLUMNS: readonly Column<ProviderLine>[] = [
  { header: 'Provider', value: (row) => row.name, cell: (row) => <SeriesName name={row.name} /> },
  { header: 'Health', value: (row) => row.health.label, tone: (row) => row.health.tone },
  {
    header: 'Models with problems',
    unit: 'count',
    wideOnly: true,
    value: (row) => row.targets.filter(({ state }) => state !== 'closed').length,
  },
  { header: 'Stored keys', unit: 'count', wideOnly: true, value: (row) => row.keys.length },
  { header: 'Requests', unit: 'count', value: (row) => row.requests },
  { header: 'Failed over', unit: 'count', wideOnly: true, value: (row) => row.failedOver },
  { header: 'Failed', unit: 'share', value: (row) => row.errorRate },
  { header: 'Upstream p95', unit: 'ms', wideOnly: true, value: (row) => row.p95Ms },
  { header: 'Base URL', wideOnly: true, value: (row) => row.base_url },
];

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
