import type { Alert } from '../../api/settings';
import { formatMs, formatShare } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import type { Tone } from '../../ui/badge';

/** Kinds of alerts, and how their threshold reads. */
export const KINDS = {
  budget_share: {
    label: 'A budget is used up to',
    show: (threshold: number) => formatShare(threshold, 0),
    isWindowed: false,
  },
  error_rate: {
    label: 'Requests fail, at least',
    show: (threshold: number) => formatShare(threshold, 0),
    isWindowed: true,
  },
  latency_p95: { label: 'p95 latency reaches', show: (threshold: number) => formatMs(threshold), isWindowed: true },
  spend: { label: 'Spend reaches', show: (threshold: number) => formatUsd(threshold), isWindowed: true },
  job_failed: { label: 'A background job fails', show: () => '', isWindowed: true },
} as const satisfies Record<Alert['kind'], { label: string; show: (threshold: number) => string; isWindowed: boolean }>;

/** An alert in one line. */
export function describeAlert({
  kind,
  threshold,
  window_minutes: minutes,
}: Pick<Alert, 'kind' | 'threshold' | 'window_minutes'>): string {
  const { label, show, isWindowed } = KINDS[kind];
  return [label, show(threshold), isWindowed ? `in ${minutes} min` : ''].filter((part) => part !== '').join(' ');
}

/** How an alert is doing. */
export function stateOf(alert: Pick<Alert, 'last_error' | 'is_firing' | 'is_active'>): { label: string; tone: Tone } {
  if (alert.last_error !== null) return { label: 'webhook fails', tone: 'warn' };
  if (alert.is_firing) return { label: 'firing', tone: 'bad' };
  return alert.is_active ? { label: 'quiet', tone: 'good' } : { label: 'off', tone: 'neutral' };
}
