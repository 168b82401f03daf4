import type { Alert } from '../../api/settings';
import { formatMs, formatShare } from '../../format/format-number';
import type { TimeZoneChoice } from '../../format/format-time';
import { formatInstant, formatWeekday } from '../../format/format-time';
import { formatUsd } from '../../format/format-usd';
import type { Tone } from '../../ui/badge';
import type { FieldSpec, FormValues } from '../forms/prepare-form';

const percent = {
  kind: 'number',
  show: (share: unknown) => String(Math.round(Number(share) * 1e8) / 1e6),
  read: (text: string) => {
    const given = /^(\d+(?:\.\d+)?)\s*%?$/.exec(text)?.[1];
    if (given === undefined || Number(given) > 100) throw new Error('must be a percentage from 0 to 100');
    return Number(given) / 100;
  },
} as const;

/** How the threshold of a kind is typed; one without has none. */
const THRESHOLDS: Readonly<Record<Alert['kind'], Omit<FieldSpec, 'name'> | undefined>> = {
  budget_share: { ...percent, label: 'Budget used, %' },
  error_rate: { ...percent, label: 'Failed requests, %' },
  latency_p95: { label: 'Latency, ms', kind: 'number' },
  spend: { label: 'Spend, USD', kind: 'usd' },
  job_failed: undefined,
  guardrail_hits: { label: 'Hits of guardrails', kind: 'integer' },
};

/** The fields of an alert of this kind: a number of one kind says nothing to another. */
export function alertFields(
  kind: Alert['kind'],
  projects: Readonly<Record<string, string>> = {},
): readonly FieldSpec[] {
  const given = THRESHOLDS[kind];
  const threshold = given && {
    ...given,
    ...{ name: 'threshold', required: true },
    understood: (value: unknown, { window_minutes: minutes }: FormValues) =>
      describeAlert({ kind, threshold: Number(value), window_minutes: Number(minutes) }),
  };
  return [
    { name: 'name', label: 'Name', kind: 'text', required: true },
    { name: 'kind', label: 'When', kind: 'text', options: KIND_NAMES, clears: ['threshold'] },
    ...(threshold === undefined ? [] : [threshold]),
    ...(KINDS[kind].isWindowed ? [WINDOW] : []),
    ...(kind === 'job_failed' ? [] : [{ ...PROJECT, options: { '': 'all projects', ...projects } }]),
    ...REST,
  ];
}

const WINDOW: FieldSpec = { name: 'window_minutes', label: 'Time window, minutes', kind: 'integer', required: true };
const PROJECT: FieldSpec = { name: 'project_id', label: 'Project', kind: 'text' };
const REST: readonly FieldSpec[] = [
  {
    name: 'webhook_url',
    label: 'Webhook',
    kind: 'text',
    required: true,
    placeholder: 'https://hooks.slack.com/…',
    hint: 'Receives JSON with a "text" field, as Slack expects',
  },
  { name: 'is_active', label: 'Active', kind: 'flag' },
];

/** Kinds of alerts, and how their threshold reads. */
export const KINDS = {
  budget_share: {
    label: 'Budget use reaches',
    show: (threshold: number) => formatShare(threshold, threshold * 100 === Math.round(threshold * 100) ? 0 : 1),
    isWindowed: false,
  },
  error_rate: {
    label: 'Error rate reaches',
    show: (threshold: number) => formatShare(threshold, threshold * 100 === Math.round(threshold * 100) ? 0 : 1),
    isWindowed: true,
  },
  latency_p95: { label: 'p95 latency reaches', show: (threshold: number) => formatMs(threshold), isWindowed: true },
  spend: { label: 'Spend reaches', show: (threshold: number) => formatUsd(threshold), isWindowed: true },
  job_failed: { label: 'A background job fails', show: () => '', isWindowed: true },
  guardrail_hits: { label: 'Guardrail hits reach', show: (threshold: number) => String(threshold), isWindowed: true },
} as const satisfies Record<Alert['kind'], { label: string; show: (threshold: number) => string; isWindowed: boolean }>;

const KIND_NAMES = Object.fromEntries(Object.entries(KINDS).map(([kind, { label }]) => [kind, label]));

/** An alert in one line. */
export function describeAlert({
  kind,
  threshold,
  window_minutes: minutes,
}: Pick<Alert, 'kind' | 'threshold' | 'window_minutes'>): string {
  const { label, show, isWindowed } = KINDS[kind];
  return [label, show(threshold), isWindowed ? `within ${minutes} min` : ''].filter((part) => part !== '').join(' ');
}

/** How an alert is doing. */
export function stateOf(alert: Pick<Alert, 'last_error' | 'is_firing' | 'is_active'>): { label: string; tone: Tone } {
  if (alert.last_error !== null) return { label: 'webhook failing', tone: 'warn' };
  if (alert.is_firing) return { label: 'firing', tone: 'bad' };
  return alert.is_active ? { label: 'quiet', tone: 'good' } : { label: 'off', tone: 'neutral' };
}

interface Preview {
  readonly from: string;
  readonly to: string;
  readonly fired: number;
  readonly firings: readonly { readonly from: string; readonly to: string | null }[];
  readonly highest: number | null;
}

const TIMES: Readonly<Record<number, string>> = { 1: 'once', 2: 'twice' };
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

/** `Over the last week it would have fired 3 times, last on Tuesday 14:05, for 20 min.` */
export function describePreview(kind: Alert['kind'], preview: Preview, zone: TimeZoneChoice): string {
  const { fired, firings, highest, from, to } = preview;
  const isShort = Date.parse(to) - Date.parse(from) < WEEK_MS - HOUR_MS;
  const when = isShort ? `Since ${formatInstant(Date.parse(from), zone)}` : 'Over the last week';
  const last = firings[0];
  if (fired === 0 || last === undefined) {
    const most =
      highest === null ? 'there was nothing to measure' : `the highest value was ${KINDS[kind].show(highest)}`;
    return `${when}, it would not have fired${kind === 'job_failed' ? ': no job failed' : `: ${most}`}.`;
  }
  const start = `${formatWeekday(Date.parse(last.from), zone)}`;
  const end =
    last.to === null ? 'and would still be firing' : `for ${lengthOf(Date.parse(last.to) - Date.parse(last.from))}`;
  return `${when}, it would have fired ${TIMES[fired] ?? `${fired} times`}, last on ${start}, ${end}.`;
}

function lengthOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}
