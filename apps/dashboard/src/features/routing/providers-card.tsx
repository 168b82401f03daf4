import { useMemo, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type ProviderInput, type ProviderTest, useProviders } from '../../api/routing';
import { useMayChange } from '../../api/session';
import { useErrors, useLatency } from '../../api/stats';
import { SeriesName } from '../../charts/series-name';
import { formatCount, formatMs, formatShare } from '../../format/format-number';
import { rangeQuery, untilNow } from '../../range/time-range';
import { useNow } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { ErrorState } from '../../ui/error-state';
import { Plus } from '../../ui/icons';
import type { FieldSpec } from '../projects/prepare-form';
import { SpecForm } from '../projects/spec-form';
import { type ProviderLine, prepareProviders } from './prepare-routing';
import { ProviderDialog } from './provider-dialog';

const HOUR_MS = 3_600_000;
const STEP_MS = 60_000;

const NEW_FIELDS: readonly FieldSpec[] = [
  {
    name: 'name',
    label: 'Name',
    kind: 'text',
    required: true,
    hint: 'Of a known vendor, or one of your own',
    placeholder: 'my-server',
  },
  {
    name: 'base_url',
    label: 'Base URL',
    kind: 'text',
    placeholder: "the vendor's",
    hint: 'Ends in /v1 for OpenAI-compatible servers',
  },
  { name: 'key', label: 'Key', kind: 'text', hint: 'Write-only: encrypted, never shown again' },
];

export function ProvidersCard() {
  const providers = useProviders();
  const nowMs = useNow(STEP_MS);
  const toMs = untilNow(nowMs);
  const lastHour = rangeQuery({ fromMs: toMs - HOUR_MS, toMs });
  const grouped = { ...lastHour, interval: 'all', group_by: 'provider' };
  const errors = useErrors(grouped);
  const latency = useLatency(grouped, 'upstream');
  const mayChange = useMayChange();
  const [isAdding, setIsAdding] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const lines = useMemo(
    () =>
      providers.data && prepareProviders(providers.data.data, errors.data?.buckets ?? [], latency.data?.buckets ?? []),
    [providers.data, errors.data, latency.data],
  );
  const create = useChange({
    run: (json: ProviderInput) => read(api.providers.$post({ json })),
    affects: [['providers'], ['system']],
    done: 'The provider is live',
  });
  const opened = lines?.find(({ name }) => name === open);
  return (
    <Card
      title="Providers, over the last hour"
      flush
      actions={
        <Button disabled={!mayChange} onClick={() => setIsAdding(true)}>
          <Plus /> Add provider
        </Button>
      }
    >
      {providers.error && <ErrorState error={providers.error} onRetry={() => void providers.refetch()} />}
      <DataTable
        caption="Providers"
        columns={COLUMNS}
        rows={lines}
        rowKey={(row) => row.name}
        onRow={(row) => setOpen(row.name)}
      />
      <Dialog
        title="Add a provider"
        description="A known vendor with its key, or any OpenAI-compatible server."
        open={isAdding}
        onClose={() => setIsAdding(false)}
      >
        <SpecForm
          specs={NEW_FIELDS}
          resource={null}
          submitLabel="Add provider"
          isPending={create.isPending}
          error={create.error}
          onSubmit={({ key, ...body }) =>
            create.mutate({ ...body, ...(key === null ? {} : { key }) } as unknown as ProviderInput, {
              onSuccess: () => setIsAdding(false),
            })
          }
        />
      </Dialog>
      {opened !== undefined && <ProviderDialog provider={opened} onClose={() => setOpen(null)} />}
    </Card>
  );
}

/** Asks a provider for its models, which is free. */
export function TestButton({ name }: { readonly name: string }) {
  const [result, setResult] = useState<ProviderTest | null>(null);
  const test = useChange({
    run: () => read(api.providers[':name'].test.$post({ param: { name }, json: {} })),
    affects: [],
  });
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      {result !== null && (
        <span className={result.ok ? 'text-good' : 'text-bad'}>
          {result.ok ? `answered in ${formatMs(result.latency_ms)}` : (result.error?.message ?? 'failed')}
        </span>
      )}
      {test.error && <span className="text-bad">{test.error.message}</span>}
      <Button size="small" disabled={test.isPending} onClick={() => test.mutate(undefined, { onSuccess: setResult })}>
        {test.isPending ? 'Testing' : 'Test'}
      </Button>
    </span>
  );
}

const COLUMNS: readonly Column<ProviderLine>[] = [
  { id: 'name', header: 'Provider', value: (row) => row.name, cell: (row) => <SeriesName name={row.name} /> },
  {
    id: 'health',
    header: 'Health',
    value: (row) => row.health.label,
    cell: (row) => <Badge tone={row.health.tone}>{row.health.label}</Badge>,
  },
  {
    id: 'targets',
    header: 'Models in trouble',
    align: 'right',
    wideOnly: true,
    value: (row) => row.targets.filter(({ state }) => state !== 'closed').length,
  },
  { id: 'keys', header: 'Stored keys', align: 'right', wideOnly: true, value: (row) => row.keys.length },
  {
    id: 'requests',
    header: 'Requests',
    align: 'right',
    value: (row) => row.requests,
    cell: (row) => formatCount(row.requests),
  },
  {
    id: 'errors',
    header: 'Failed',
    align: 'right',
    value: (row) => row.errorRate,
    cell: (row) => formatShare(row.errorRate),
  },
  {
    id: 'p95',
    header: 'Upstream p95',
    align: 'right',
    wideOnly: true,
    value: (row) => row.p95Ms,
    cell: (row) => formatMs(row.p95Ms),
  },
  { id: 'url', header: 'Address', wideOnly: true, value: (row) => row.base_url },
];
