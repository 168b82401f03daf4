import { ALERT_KIND_FACTS } from '@llm0/core/alerts/kinds';
import { useChange } from '../../api/change';
import { api, read, readOrNull } from '../../api/client';
import { useProjectNames, useProjectOptions } from '../../api/projects';
import { saveChanges } from '../../api/save-changes';
import { useMayChange } from '../../api/session';
import { type Alert, type AlertInput, type ListedAlert, useAlerts } from '../../api/settings';
import { useOpened } from '../../range/use-opened';
import { useNow, usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import type { DialogOf } from '../../ui/dialog';
import { Plus } from '../../ui/icons';
import { Name } from '../../ui/name';
import { PlaceLink } from '../../ui/place-link';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { ConfirmButton } from '../forms/confirm-button';
import { ManagedMark } from '../forms/managed-set';
import { OpenedOne } from '../forms/opened-one';
import { type Edit, SpecDialog } from '../forms/spec-form';
import { AlertHistory } from './alert-history';
import { AlertPreview } from './alert-preview';
import { alertFields, describeAlert, placeOf, statesOf } from './prepare-alert';
import { callingAlerts, describeMinute, describeNow, type ShownAt } from './prepare-firing';
import { placeOfMeasure } from './prepare-measure';

/** Alerts. */
export function AlertsCard() {
  const alerts = useAlerts({ withChecks: true });
  const opened = useOpened();
  const mayChange = useMayChange();
  const columns = useColumns();
  const open = alerts.data?.data.find(({ id }) => id === opened.id);
  return (
    <TableCard
      actions={
        <ChangeButton onClick={() => opened.open('new')}>
          <Plus /> New alert
        </ChangeButton>
      }
      caption="Alerts"
      query={alerts}
      columns={columns}
      rows={alerts.data && firingFirst(alerts.data.data)}
      rowKey={(row) => row.id}
      linkOf={(row) => opened.linkTo(row.id)}
      emptyTitle="No alerts yet"
      emptyHint={
        <>
          An alert sends a message when a budget runs low, errors pile up, a provider is down, or spend is unusual.
          <span className="mt-3 block">
            <ChangeButton kind="primary" onClick={() => opened.open('new')}>
              Make the first alert
            </ChangeButton>
          </span>
        </>
      }
    >
      {opened.id === 'new' && mayChange && <AlertDialog of={null} onClose={opened.close} />}
      {opened.id !== undefined && opened.id !== 'new' && (
        <OpenedOne
          what="alert"
          row={open}
          isLoaded={alerts.data !== undefined}
          queryKey={['alerts', opened.id]}
          read={() => readOrNull(api.alerts[':id'].$get({ param: { id: opened.id ?? '' } }))}
          onClose={opened.close}
          nameOf={({ id }) => ({ resource: 'alert', id })}
        >
          {(alert) => <AlertDialog of={alert} onClose={opened.close} />}
        </OpenedOne>
      )}
    </TableCard>
  );
}

/** Alerts that need someone come before all others. */
const firingFirst = (alerts: readonly ListedAlert[]) => alerts.toSorted((a, b) => urgencyOf(b) - urgencyOf(a));

const urgencyOf = (alert: ListedAlert) => Number(alert.is_firing) + callingAlerts([alert], Date.now()).length;

/** Step of the ages that the table shows. */
const CLOCK_MS = 5_000;

function useColumns(): readonly Column<ListedAlert>[] {
  const { timeZone: zone } = usePage();
  const projectName = useProjectNames();
  const nowMs = useNow(CLOCK_MS);
  const shown = { zone, nowMs };
  return [
    {
      ...{ header: 'Name', wraps: true },
      value: (row) => row.name,
      cell: (row) => (
        <>
          <Name name={row.name} wraps>
            <ManagedMark resource="alert" id={row.id} />
          </Name>
          <span className="block text-xs text-muted md:hidden">
            {[describeAlert(row), placeOf(row, projectName)].filter(Boolean).join(', ')}
          </span>
        </>
      ),
    },
    {
      ...{ header: 'When', wraps: true, wideOnly: true },
      value: describeAlert,
      cell: (row) => (
        <span className="block text-balance">
          {describeAlert(row)}
          <Small>{placeOf(row, projectName)}</Small>
        </span>
      ),
    },
    {
      ...{ header: 'State', wraps: true },
      value: (row) =>
        statesOf(row, nowMs)
          .map(({ label }) => label)
          .join(', '),
      cell: (row) => <State alert={row} {...shown} />,
    },
    {
      ...{ header: 'Now', wraps: true, wideOnly: true },
      value: (row) => describeNow(row, shown).found,
      cell: (row) => <Measured alert={row} {...shown} />,
    },
    {
      ...{ header: 'Last sent', wideOnly: true, none: 'never' },
      value: (row) => row.told_at,
      cell: (row) => (row.told_at === null ? 'never' : describeMinute(row.told_at, zone)),
    },
    { header: 'Webhook', wideOnly: 'more', value: (row) => row.webhook_url },
  ];
}

interface StateProps extends ShownAt {
  readonly alert: ListedAlert;
}

function State({ alert, ...shown }: StateProps) {
  const { since, unsent } = describeNow(alert, shown);
  return (
    <>
      <span className="flex flex-wrap gap-1">
        {statesOf(alert, shown.nowMs).map(({ tone, label }) => (
          <Badge key={label} tone={tone}>
            {label}
          </Badge>
        ))}
      </span>
      <Small>{since}</Small>
      <span className="block py-1 md:hidden">
        <Measured alert={alert} {...shown} />
      </span>
      <span className="max-md:line-clamp-2">
        <Small>{unsent}</Small>
      </span>
    </>
  );
}

/** What the last check measured, and the page that shows more of it. */
function Measured({ alert, ...shown }: StateProps) {
  const { found, checked } = describeNow(alert, shown);
  const { label, ...place } = placeOfMeasure(alert, shown.nowMs);
  return (
    <>
      <span className="block text-balance">{found}</span>
      <span className="block text-xs text-muted">
        <PlaceLink {...place} className="touch-line text-accent underline">
          {label}
        </PlaceLink>
        {checked !== null && `, ${checked}`}
      </span>
    </>
  );
}

const Small = ({ children }: { readonly children: string | null | undefined }) =>
  children == null ? null : <span className="block text-xs text-muted">{children}</span>;

const NEW_ALERT = {
  ...{
    kind: 'budget_share',
    threshold: ALERT_KIND_FACTS.budget_share.defaultThreshold,
    project_id: null,
    window_minutes: 15,
    is_active: true,
  },
  webhook_format: 'json',
};

function AlertDialog({ of: alert, onClose }: DialogOf<Alert | null>) {
  const projects = Object.fromEntries(useProjectOptions());
  const { save, remove, test } = useAlertChanges(alert);
  return (
    <SpecDialog
      title={alert === null ? 'New alert' : alert.name}
      onClose={onClose}
      specs={({ kind, webhook_format: format }) =>
        alertFields(kind as Alert['kind'], projects, format as Alert['webhook_format'], alert === null)
      }
      below={(values) => (
        <>
          <AlertPreview values={values} />
          {alert !== null && <AlertHistory of={alert} />}
        </>
      )}
      resource={alert ?? NEW_ALERT}
      submitLabel={alert === null ? 'Create alert' : 'Save alert'}
      change={save}
      otherError={test.error}
      onSubmit={(body, edit) => save.mutate({ json: body as unknown as AlertInput, edit }, { onSuccess: onClose })}
    >
      {alert !== null && (
        <>
          <ConfirmButton
            title={`Delete alert ${alert.name}?`}
            impact={`No one will be notified when this happens: ${describeAlert(alert)}. ${alert.is_firing ? 'It is firing now.' : 'It is not firing.'}`}
            confirmLabel="Delete alert"
            change={remove}
            onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
          >
            Delete
          </ConfirmButton>
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
    run: ({ json, edit }: { readonly json: AlertInput; readonly edit: Edit }) =>
      alert === null
        ? read(api.alerts.$post({ json }))
        : saveChanges({
            ...edit,
            read: () => routes.$get({ param }),
            write: (options) => routes.$patch({ param, json: edit.changes as Partial<AlertInput> }, options),
          }),
    affects,
    done: 'Saved. The condition is checked every 30 seconds.',
  });
  const remove = useChange({ run: () => routes.$delete({ param }), affects, done: 'Alert deleted' });
  const test = useChange({ run: () => read(routes.test.$post({ param })), affects, done: 'The webhook responded' });
  return { save, remove, test };
}
