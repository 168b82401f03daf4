import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useMayChange } from '../../api/session';
import { type Alert, type AlertInput, useAlerts } from '../../api/settings';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { Plus } from '../../ui/icons';
import type { FieldSpec } from '../projects/prepare-form';
import { SpecForm } from '../projects/spec-form';
import { describeAlert, KINDS } from './prepare-alert';

const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  {
    name: 'kind',
    label: 'When',
    kind: 'text',
    options: Object.entries(KINDS).map(([value, { label }]) => ({ value, label })),
  },
  {
    name: 'threshold',
    label: 'Threshold',
    kind: 'number',
    hint: 'A share (0.8 = 80 %), milliseconds, or USD',
    required: true,
  },
  { name: 'window_minutes', label: 'Over the last, minutes', kind: 'integer', required: true },
  {
    name: 'webhook_url',
    label: 'Webhook',
    kind: 'text',
    required: true,
    placeholder: 'https://hooks.slack.com/…',
    hint: 'Gets JSON with a "text"',
  },
  { name: 'is_active', label: 'Active', kind: 'flag' },
];

/** What the gateway tells a webhook about, by itself. */
export function AlertsCard() {
  const alerts = useAlerts();
  const mayChange = useMayChange();
  const [editing, setEditing] = useState<Alert | 'new' | null>(null);
  const affects = [['alerts']];
  const edited = editing === 'new' || editing === null ? null : editing;
  const save = useChange({
    run: (json: AlertInput) =>
      edited === null
        ? read(api.alerts.$post({ json }))
        : read(api.alerts[':id'].$patch({ param: { id: edited.id }, json })),
    affects,
    done: 'It is looked at every 30 seconds',
  });
  const remove = useChange({
    run: (id: string) => api.alerts[':id'].$delete({ param: { id } }),
    affects,
    done: 'The alert is deleted',
  });
  const test = useChange({
    run: (id: string) => read(api.alerts[':id'].test.$post({ param: { id } })),
    affects,
    done: 'The webhook answered',
  });
  return (
    <Card
      title="Alerts"
      flush
      actions={
        <Button disabled={!mayChange} onClick={() => setEditing('new')}>
          <Plus /> New alert
        </Button>
      }
    >
      {alerts.error && <ErrorState error={alerts.error} onRetry={() => void alerts.refetch()} />}
      <DataTable
        caption="Alerts"
        columns={COLUMNS}
        rows={alerts.data?.data}
        rowKey={(row) => row.id}
        onRow={setEditing}
        empty={
          <EmptyState title="No alerts yet">
            Be told when a budget nears its end, errors pile up, answers get slow, or a job fails.
          </EmptyState>
        }
      />
      <Dialog
        title={edited === null ? 'New alert' : edited.name}
        open={editing !== null}
        onClose={() => setEditing(null)}
      >
        {editing !== null && (
          <SpecForm
            specs={FIELDS}
            resource={edited ?? { kind: 'budget_share', threshold: 0.8, window_minutes: 15, is_active: true }}
            submitLabel="Save alert"
            isPending={save.isPending}
            error={save.error ?? remove.error ?? test.error}
            disabled={!mayChange}
            onSubmit={(body) => save.mutate(body as unknown as AlertInput, { onSuccess: () => setEditing(null) })}
          >
            {edited !== null && (
              <>
                <Button kind="danger" onClick={() => remove.mutate(edited.id, { onSuccess: () => setEditing(null) })}>
                  Delete
                </Button>
                <Button disabled={test.isPending} onClick={() => test.mutate(edited.id)}>
                  Test webhook
                </Button>
              </>
            )}
          </SpecForm>
        )}
      </Dialog>
    </Card>
  );
}

const COLUMNS: readonly Column<Alert>[] = [
  {
    id: 'name',
    header: 'Name',
    value: (row) => row.name,
    cell: (row) => <span className="font-medium">{row.name}</span>,
  },
  { id: 'when', header: 'When', value: (row) => describeAlert(row) },
  {
    id: 'state',
    header: 'State',
    value: (row) => (row.is_firing ? 'firing' : 'quiet'),
    cell: (row) => (
      <Badge tone={row.last_error !== null ? 'warn' : row.is_firing ? 'bad' : row.is_active ? 'good' : 'neutral'}>
        {row.last_error !== null ? 'webhook fails' : row.is_firing ? 'firing' : row.is_active ? 'quiet' : 'off'}
      </Badge>
    ),
  },
  { id: 'webhook', header: 'Webhook', wideOnly: true, value: (row) => row.webhook_url },
];
