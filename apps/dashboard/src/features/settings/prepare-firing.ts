import type { Alert, ListedAlert } from '../../api/settings';
import { formatAgo, formatStamp, type TimeZoneChoice, zoneName } from '../../format/format-time';

export type Sending = Pick<Alert, 'last_error' | 'muted_until'>;

export const isMuted = ({ muted_until: until }: Pick<Alert, 'muted_until'>, nowMs: number): boolean =>
  Date.parse(until ?? '') > nowMs;

/** Why nobody is told of an alert that fires; null if nothing is in the way. */
export const whyUnsent = (alert: Sending, nowMs: number): string | null =>
  alert.last_error ?? (isMuted(alert, nowMs) ? 'muted' : null);

const MINUTE = '2026-01-31 23:59'.length;
/** `2026-11-28 13:26 UTC`. */
export const describeMinute = (at: string, zone: TimeZoneChoice): string =>
  `${formatStamp(at, zone).slice(0, MINUTE)} ${zoneName(zone)}`;

export interface ShownAt {
  readonly zone: TimeZoneChoice;
  readonly nowMs: number;
}

export interface AlertNow {
  /** When it began to fire; of budgets, when the newest was told of. */
  readonly since: string | null;
  /** What the last check measured; null while nothing checks it. */
  readonly found: string | null;
  readonly checked: string | null;
  /** Why nobody was told, or would be. */
  readonly unsent: string | null;
}

/** What an alert measures now, since when it fires, and why nobody was told. */
export function describeNow(
  alert: Pick<ListedAlert, 'kind' | 'firing' | 'last_check' | 'is_active'> & Sending,
  { zone, nowMs }: ShownAt,
): AlertNow {
  const { firing, last_check: check, last_error: error } = alert;
  const isChecked = alert.is_active && check !== null;
  const until = isMuted(alert, nowMs) ? `until ${describeMinute(alert.muted_until ?? '', zone)}` : null;
  const isHeld = firing?.told_at === null && error === null;
  const why = [
    ...(error === null ? [] : [`Not sent: ${error.replace(/\.$/, '')}`]),
    ...(until === null ? [] : [isHeld ? `Not sent: muted ${until}` : `Muted ${until}`]),
  ];
  return {
    // Of budgets, a firing is a message: others may have been told of before.
    since: firing && `${alert.kind === 'budget_share' ? 'newest' : 'since'} ${describeMinute(firing.created_at, zone)}`,
    found: isChecked
      ? (check.text ?? 'nothing to measure')
      : (firing?.text ?? (alert.is_active ? 'not measured yet' : null)),
    // Clocks may differ.
    checked: isChecked ? `checked ${formatAgo(Math.min(Date.parse(check.at), nowMs), nowMs)}` : null,
    unsent: why.length === 0 ? null : why.join('. '),
  };
}

/** Alerts that fire and are not muted: of a project, or of all. */
export const callingAlerts = (alerts: readonly ListedAlert[], nowMs: number, projectId?: string): ListedAlert[] =>
  alerts.filter(
    (alert) =>
      alert.is_firing &&
      !isMuted(alert, nowMs) &&
      (projectId === undefined || alert.project_id === null || alert.project_id === projectId),
  );
