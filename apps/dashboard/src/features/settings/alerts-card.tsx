import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Alert, type AlertInput, useAlerts } from '../../api/settings';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import type { DialogOf } from '../../ui/dialog';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { describeAlert, KINDS, stateOf } from './prepare-alert';

/** What the gateway tells a webhook about, by itself. */
export function AlertsCard() {
  const alerts = useAlerts();
  const [editing, setEditing] = useState<Alert | 'new' | null>(null);
  return (
    <TableCard
      title="Alerts"
      actions={
        <ChangeButton onClick={() => setEditing('new')}>
          <Plus /> New alert
        </ChangeButton>
      }
      caption="Alerts"
      query={alerts}
      columns={COLUMNS}
      rows={alerts.data?.data}
      rowKey={(row) => row.id}
      onRow={setEditing}
      emptyTitle="No alerts yet"
      emptyHint="Be told when a budget nears its end, errors pile up, answers get slow, or a job fails."
    >
      {editing !== null && <AlertDialog of={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />}
    </TableCard>
  );
}

const COLUMNS: readonly Column<Alert>[] = [
  { header: 'Name', value: (row) => row.name, cell: (row) => <span className="font-medium">{row.name}</span> },
  { header: 'When', value: describeAlert },
  {
    header: 'State',
    value: (row) => (row.is_firing ? 'firing' : 'quiet'),
    cell: (row) => <Badge tone={stateOf(row).tone}>{stateOf(row).label}</Badge>,
  },
  { header: 'Webhook', wideOnly: true, value: (row) => row.webhook_url },
];

const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  {
    name: 'kind',
    label: 'When',
    kind: 'text',
    options: Object.fromEntries(Object.entries(KINDS).map(([kind, { label }]) => [kind, label])),
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
const NEW_ALERT = { kind: 'budget_share', threshold: 0.8, window_minutes: 15, is_active: true };

function AlertDialog({ of: alert, onClose }: DialogOf<Alert | null>) {
  const { save, remove, test } = useAlertChanges(alert);
  return (
    <SpecDialog
      title={alert === null ? 'New alert' : alert.name}
      onClose={onClose}
      specs={FIELDS}
      resource={alert ?? NEW_ALERT}
      submitLabel="Save alert"
      change={save}
      otherError={remove.error ?? test.error}
      onSubmit={(body) => save.mutate(body as unknown as AlertInput, { onSuccess: onClose })}
    >
      {alert !== null && (
        <>
          <Button kind="danger" onClick={() => remove.mutate(undefined, { onSuccess: onClose })}>
            Delete
          </Button>
          <Button disabled={test.isPending} onClick={() => test.mutate()}>
            Test webhook
          </Button>
        </>
      )}
    </SpecDialog>
  );
}

function useAlertChanges(alert: Alert | null) {
  const param = { id: alert?.id ?? '' };
  const affects = [['alerts']];
  const routes = api.alerts[':id'];
  const save = useChange({
    run: (json: AlertInput) => read(alert === null ? api.alerts.$post({ json }) : routes.$patch({ param, json })),
    affects,
    done: 'It is looked at every 30 seconds',
  });
  const remove = useChange({ run: () => routes.$delete({ param }), affects, done: 'The alert is deleted' });
  const test = useChange({ run: () => read(routes.test.$post({ param })), affects, done: 'The webhook answered' });
  return { save, remove, test };
}
