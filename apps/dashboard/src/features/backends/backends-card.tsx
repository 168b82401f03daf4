import { backendProvider } from '@llm0/core/backends/backend';
import { type ReactNode, useMemo } from 'react';
import { useStatus } from '../../api/away';
import { type BackendInput, readBackend, useBackends } from '../../api/backends';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useMayChange } from '../../api/session';
import { useErrors } from '../../api/stats';
import { useOpened } from '../../range/use-opened';
import type { Page } from '../../range/use-page';
import { type RequestsFilter, requestsLink } from '../../range/use-show-requests';
import { Plus } from '../../ui/icons';
import { Name } from '../../ui/name';
import { PlaceLink } from '../../ui/place-link';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { ManagedMark } from '../forms/managed-set';
import { OpenedOne } from '../forms/opened-one';
import { SpecDialog } from '../forms/spec-form';
import { BackendDialog } from './backend-dialog';
import { type BackendLine, backendBody, NEW_BACKEND_FIELDS, prepareBackends } from './backend-fields';

/** Plain HTTP services behind `/infer`. */
export function BackendsCard({ page }: { readonly page: Page }) {
  const backends = useBackends();
  const errors = useErrors({ ...page.query, interval: 'all', group_by: 'provider' });
  const status = useStatus().data;
  const { id, linkTo, open, close } = useOpened();
  const mayChange = useMayChange();
  const lines = useMemo(
    () =>
      backends.data &&
      prepareBackends({
        ...{ stored: backends.data.data, fixed: backends.data.environment, sums: errors.data?.buckets },
        paused: new Set(status?.open.map(({ provider }) => provider)),
      }),
    [backends.data, errors.data, status],
  );
  return (
    <TableCard
      actions={
        <ChangeButton onClick={() => open('new')}>
          <Plus /> Add backend
        </ChangeButton>
      }
      caption="HTTP backends"
      query={backends}
      columns={COLUMNS}
      rows={lines}
      rowKey={(row) => row.key}
      linkOf={(row) => (row.stored === undefined ? undefined : linkTo(row.stored.id))}
      csvName="http-backends"
      emptyTitle="No HTTP backends yet"
      emptyHint={
        <>
          Put a service of your own, such as a reranker, behind /infer/name/…: it gets the keys, limits, cache and log
          of this gateway.
          <span className="mt-3 block">
            <ChangeButton kind="primary" onClick={() => open('new')}>
              Add the first backend
            </ChangeButton>
          </span>
        </>
      }
    >
      {id === 'new' && mayChange && <NewBackend onClose={close} />}
      {id !== undefined && id !== 'new' && (
        <OpenedOne
          what="backend"
          row={backends.data?.data.find((one) => one.id === id)}
          isLoaded={lines !== undefined}
          queryKey={['backends', id]}
          read={() => readBackend(id)}
          onClose={close}
          nameOf={(backend) => ({ resource: 'backend', id: backend.id })}
        >
          {(backend) => <BackendDialog key={backend.id} of={backend} onClose={close} />}
        </OpenedOne>
      )}
    </TableCard>
  );
}

const COLUMNS: readonly Column<BackendLine>[] = [
  {
    header: 'Name',
    value: (row) => row.name,
    cell: (row) => (
      <Name name={row.name}>{row.stored !== undefined && <ManagedMark resource="backend" id={row.stored.id} />}</Name>
    ),
  },
  {
    header: 'State',
    value: (row) => row.state.label,
    tone: (row) => row.state.tone,
  },
  {
    ...{ header: 'Requests', unit: 'count', value: (row) => row.requests },
    cell: ({ name, requests }, amount) =>
      requests ? <Counted filter={{ provider: backendProvider(name) }}>{amount}</Counted> : amount,
  },
  {
    ...{ header: 'Failures', unit: 'share', value: (row) => row.failureRate },
    cell: ({ name, failed, failureRate }) =>
      failureRate ? <Counted filter={{ provider: backendProvider(name), outcome: 'error' }}>{failed}</Counted> : failed,
  },
  { header: '$ / request', unit: 'price', wideOnly: true, value: (row) => row.price_per_request_usd },
  { header: 'Cache', wideOnly: true, value: (row) => row.caches },
  { header: 'Retries', unit: 'count', wideOnly: true, value: (row) => row.retries },
  { header: 'Time-out, s', unit: 'count', wideOnly: true, value: (row) => row.timeout_ms / 1000 },
  { header: 'URL', wideOnly: 'very', narrow: true, value: (row) => row.url },
];

/** Opens what it counts. */
const Counted = ({ filter, children }: { readonly filter: RequestsFilter; readonly children: ReactNode }) => (
  <PlaceLink
    {...requestsLink({ ...filter, open: undefined })}
    className="touch-line hover:underline"
    onClick={(event) => event.stopPropagation()}
  >
    {children}
  </PlaceLink>
);

function NewBackend({ onClose }: { readonly onClose: () => void }) {
  const create = useChange({
    run: (json: BackendInput) => read(api.backends.$post({ json })),
    affects: [['backends']],
    done: ({ name }) => `Added. It is reached at /infer/${name}/`,
  });
  return (
    <SpecDialog
      title="Add an HTTP backend"
      description="Keys that name models in allowed_models also need infer:name there."
      onClose={onClose}
      specs={NEW_BACKEND_FIELDS}
      resource={{ cache_enabled: 'true' }}
      submitLabel="Add backend"
      change={create}
      onSubmit={(body) => create.mutate(backendBody(body) as unknown as BackendInput, { onSuccess: onClose })}
    />
  );
}
