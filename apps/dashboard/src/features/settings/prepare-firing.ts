import type { Alert, ListedAlert } from '../../api/settings';
import { formatStamp, type TimeZoneChoice, zoneName } from '../../format/format-time';

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

/** What an alert that fires has found, since when, and why nobody was told. */
export function describeNow(
  alert: Pick<ListedAlert, 'firing'> & Sending,
  { zone, nowMs }: ShownAt,
): { readonly found: string | null; readonly unsent: string | null } {
  const { firing, last_error: error } = alert;
  // The text is of then.
  const found = firing && `${firing.text} (at ${describeMinute(firing.created_at, zone)})`;
  const why = firing?.told_at === null ? whyUnsent(alert, nowMs) : error;
  return { found, unsent: why === null ? null : `Not sent: ${why}` };
}

/** Alerts that fire and are not muted: of a project, or of all. */
export const callingAlerts = (alerts: readonly ListedAlert[], nowMs: number, projectId?: string): ListedAlert[] =>
  alerts.filter(
    (alert) =>
      alert.is_firing &&
      !isMuted(alert, nowMs) &&
      (projectId === undefined || alert.project_id === null || alert.project_id === projectId),
  );
