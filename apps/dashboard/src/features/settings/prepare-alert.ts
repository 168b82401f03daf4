import { budgetLevelsAbove } from '@llm0/core/alerts/condition';
import { ALERT_KIND_FACTS } from '@llm0/core/alerts/kinds';
import type { Alert, Firing } from '../../api/settings';
import { formatMs, formatShare } from '../../format/format-number';
import type { TimeZoneChoice } from '../../format/format-time';
import { formatInstant, formatLength, formatWeekday } from '../../format/format-time';
import { formatUsd } from '../../format/format-usd';
import type { Tone } from '../../ui/badge';
import { EGRESS_HINT } from '../forms/egress-hint';
import { type FieldSpec, type FormValues, fillForm, readInteger } from '../forms/prepare-form';
import { isMuted, type Sending, whyUnsent } from './prepare-firing';

const percent = {
  kind: 'number',
  show: (share: unknown) => String(Math.round(Number(share) * 1e8) / 1e6),
  read: (text: string) => {
    const given = /^(\d+(?:\.\d+)?)\s*%?$/.exec(text)?.[1];
    if (given === undefined || Number(given) > 100 || Number(given) === 0)
      throw new Error('must be a percentage above 0, such as 5');
    return Number(given) / 100;
  },
} as const;

/** Input of a kind's threshold. */
const THRESHOLDS: Readonly<Record<Alert['kind'], Omit<FieldSpec, 'name'> | undefined>> = {
  budget_share: { ...percent, label: 'Budget used, %' },
  error_rate: { ...percent, label: 'Failed requests, %' },
  latency_p95: {
    label: 'Latency, ms',
    kind: 'number',
    hint: 'Of answers of providers, without cache hits and failures',
  },
  spend: { label: 'Spend, USD', kind: 'usd' },
  job_failed: undefined,
  guardrail_hits: { label: 'Hits of guardrails', kind: 'integer' },
  provider_down: { label: 'Down for, minutes', kind: 'number' },
  store_down: undefined,
  log_queue: { label: 'Wait of the oldest row, minutes', kind: 'number' },
  cache_ratio_fall: { ...percent, label: 'Hit ratio lost, %', hint: 'Compared with the week before' },
  spend_anomaly: {
    label: 'Deviations above the usual',
    kind: 'number',
    hint: 'Compared with the same hour of the last four weeks. One deviation is how much that hour usually varies. 5 is rare.',
  },
  error_budget_burn: {
    label: 'Burn rate',
    kind: 'number',
    hint: 'How many times too fast failures use up the error budget. 14.4 over an hour uses 2% of a month.',
  },
};

/** A number of one kind means nothing for another. */
function usualThreshold(kind: string): FormValues {
  const { defaultThreshold } = ALERT_KIND_FACTS[kind as Alert['kind']];
  const given = THRESHOLDS[kind as Alert['kind']];
  return given === undefined ? {} : fillForm([{ ...given, name: 'threshold' }], { threshold: defaultThreshold });
}

/** Fields of an alert by kind. */
export function alertFields(
  kind: Alert['kind'],
  projects: Readonly<Record<string, string>> = {},
  format: Alert['webhook_format'] = 'json',
  isNew = false,
): readonly FieldSpec[] {
  const given = THRESHOLDS[kind];
  const threshold = given && {
    ...given,
    ...{ name: 'threshold', required: true },
    understood: (value: unknown, { window_minutes: minutes }: FormValues) =>
      [
        describeAlert({ kind, threshold: Number(value), window_minutes: Number(minutes) }),
        kind === 'budget_share' ? describeLevels(Number(value)) : given.hint,
      ]
        .filter((part) => part !== undefined)
        .join('. '),
  };
  return [
    { name: 'name', label: 'Name', kind: 'text', required: true },
    { name: 'kind', label: 'When', kind: 'text', options: KIND_NAMES, resets: usualThreshold },
    ...(threshold === undefined ? [] : [threshold]),
    ...(kind === 'error_budget_burn' ? [OBJECTIVE] : []),
    ...(KINDS[kind].isWindowed ? [WINDOW] : []),
    ...(KINDS[kind].takesProject ? [{ ...PROJECT, options: { '': 'all projects', ...projects } }] : []),
    { name: 'webhook_format', label: 'Sent to', kind: 'text', options: FORMAT_NAMES, required: true },
    { ...WEBHOOK, ...WEBHOOKS[format] },
    ...(format === 'pagerduty'
      ? [isNew ? { ...ROUTING_KEY, required: true, hint: 'Of a service with Events API v2' } : ROUTING_KEY]
      : []),
    ...REST,
  ];
}

/** `Told again at 80 % and 95 %`; undefined above all levels. */
function describeLevels(threshold: number): string | undefined {
  const levels = budgetLevelsAbove(threshold).map((level) => formatShare(level, 0));
  return levels.length === 0 ? undefined : `Told again at ${new Intl.ListFormat('en').format(levels)}`;
}

const MOST_MINUTES = 7 * 24 * 60;
const WINDOW: FieldSpec = {
  ...{ name: 'window_minutes', label: 'Time window, minutes', kind: 'integer', required: true },
  read: (text) => {
    if (Number(readInteger(text)) > MOST_MINUTES) throw new Error(`must be at most ${MOST_MINUTES}, a week`);
    return readInteger(text);
  },
};
const PROJECT: FieldSpec = { name: 'project_id', label: 'Project', kind: 'text' };
const OBJECTIVE: FieldSpec = {
  ...percent,
  ...{ name: 'objective', label: 'Objective, % that succeed', placeholder: '99' },
  hint: 'What may fail beyond it is the error budget',
};
const WEBHOOK: FieldSpec = {
  ...{ name: 'webhook_url', label: 'Webhook', kind: 'text', required: true },
  hint: `A URL, or mailto:ann@example.com,ben@example.com. ${EGRESS_HINT}`,
};
const ROUTING_KEY: FieldSpec = {
  ...{ name: 'routing_key', label: 'Integration key', kind: 'text', secret: true },
  hint: 'Leave empty to keep the one that is stored',
};
const REST: readonly FieldSpec[] = [
  {
    name: 'muted_until',
    label: 'Muted until',
    kind: 'instant',
    hint: 'In your local time. The alert sends no messages until then.',
  },
  { name: 'is_active', label: 'Active', kind: 'flag' },
];

/** Format and address of messages. */
const WEBHOOKS: Readonly<Record<Alert['webhook_format'], Pick<FieldSpec, 'placeholder' | 'hint'>>> = {
  json: { placeholder: 'https://…', hint: 'Receives JSON with event, text, value and alert' },
  slack: { placeholder: 'https://hooks.slack.com/services/…', hint: 'An incoming webhook of Slack' },
  teams: { placeholder: 'https://….webhook.office.com/…', hint: 'A workflow of Teams that posts cards to a channel' },
  pagerduty: { placeholder: 'https://events.pagerduty.com/v2/enqueue', hint: 'Events API v2; resolves its incidents' },
};
const FORMAT_NAMES = { json: 'a webhook', slack: 'Slack', teams: 'Microsoft Teams', pagerduty: 'PagerDuty' };

const showShare = (share: number) => formatShare(share, share * 100 === Math.round(share * 100) ? 0 : 1);
const windowed = { isWindowed: true, takesProject: true, isReplayed: true };

interface KindWords {
  readonly label: string;
  readonly show: (threshold: number) => string;
  readonly isWindowed: boolean;
  readonly takesProject: boolean;
  /** True if the gateway can replay the alert over the last week. */
  readonly isReplayed: boolean;
}

/** Kinds of alerts, and how their threshold reads. */
export const KINDS: Readonly<Record<Alert['kind'], KindWords>> = {
  budget_share: { ...windowed, label: 'Budget use reaches', show: showShare, isWindowed: false },
  error_rate: { ...windowed, label: 'Error rate reaches', show: showShare },
  latency_p95: { ...windowed, label: 'p95 latency reaches', show: (ms) => formatMs(ms) },
  spend: { ...windowed, label: 'Spend reaches', show: (usd) => formatUsd(usd) },
  job_failed: {
    ...windowed,
    label: 'A background job fails, or a store loses its data',
    show: () => '',
    takesProject: false,
  },
  guardrail_hits: { ...windowed, label: 'Guardrail hits reach', show: (hits) => String(hits) },
  provider_down: {
    ...{ label: 'A provider is down for', show: (minutes) => `${rounded(minutes)} min` },
    ...{ isWindowed: false, takesProject: false, isReplayed: false },
  },
  store_down: {
    ...{ label: 'The database or the hot store is unreachable', show: () => '' },
    ...{ isWindowed: false, takesProject: false, isReplayed: false },
  },
  log_queue: {
    ...{ label: 'Log rows wait longer than', show: (minutes) => `${rounded(minutes)} min` },
    ...{ isWindowed: false, takesProject: false, isReplayed: false },
  },
  cache_ratio_fall: {
    ...windowed,
    label: 'The cache hit ratio falls by',
    show: showShare,
    isReplayed: false,
  },
  spend_anomaly: {
    ...{ ...windowed, isWindowed: false, label: 'Hourly spend exceeds the usual by' },
    show: (z) => `${rounded(Math.abs(z))} deviations${z < 0 ? ' below the usual' : ''}`,
  },
  error_budget_burn: { ...windowed, label: 'The error budget burns', show: (rate) => `${rounded(rate)}× too fast` },
};
const rounded = (value: number) => String(Math.round(value * 10) / 10);

const KIND_NAMES = Object.fromEntries(Object.entries(KINDS).map(([kind, { label }]) => [kind, label]));

/** An alert in one line. */
export function describeAlert({
  kind,
  threshold,
  window_minutes: minutes,
}: Pick<Alert, 'kind' | 'threshold' | 'window_minutes'>): string {
  const { label, show, isWindowed } = KINDS[kind];
  return [label, show(threshold), isWindowed ? `within ${formatLength(minutes * MINUTE_MS)}` : '']
    .filter((part) => part !== '')
    .join(' ');
}

export interface AlertState {
  readonly label: string;
  readonly tone: Tone;
}

/** State of an alert, and its delivery error. */
function conditionOf(alert: Pick<Alert, 'is_firing' | 'is_active' | 'changed_at'>): AlertState {
  if (alert.is_firing) return { label: 'firing', tone: 'bad' };
  if (!alert.is_active) return { label: 'off', tone: 'neutral' };
  return alert.changed_at === null ? { label: 'not checked yet', tone: 'neutral' } : { label: 'quiet', tone: 'good' };
}

/** Its condition, and what keeps messages from leaving. */
export function statesOf(
  alert: Pick<Alert, 'last_error' | 'is_firing' | 'is_active' | 'muted_until' | 'changed_at'>,
  nowMs: number,
): readonly AlertState[] {
  const states: AlertState[] = [conditionOf(alert)];
  if (alert.last_error !== null) states.push({ label: 'webhook failing', tone: 'warn' });
  if (alert.is_active && isMuted(alert, nowMs)) states.push({ label: 'muted', tone: 'neutral' });
  return states;
}

interface Preview {
  readonly from: string;
  readonly to: string;
  readonly fired: number;
  readonly firings: readonly { readonly from: string; readonly to: string | null }[];
  readonly highest: number | null;
}

const TIMES: Readonly<Record<number, string>> = { 1: 'once', 2: 'twice' };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
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
  const most = highest === null || kind === 'job_failed' ? '' : ` The highest value was ${KINDS[kind].show(highest)}.`;
  // Of a firing that is open when the week begins, nobody knows the beginning.
  const isOlder = Date.parse(last.from) <= Date.parse(from);
  if (isOlder && last.to === null) return `${when}, it would have fired all the time.${most}`;
  const times = TIMES[fired] ?? `${fired} times`;
  const weekday = (at: string) => formatWeekday(Date.parse(at), zone);
  const end = last.to !== null && isOlder ? `until ${weekday(last.to)}` : lastOf(last, weekday);
  return `${when}, it would have fired ${times}, last ${end}.${most}`;
}

function lastOf({ from, to }: Preview['firings'][number], weekday: (at: string) => string): string {
  const end = to === null ? 'and would still be firing' : `for ${lengthOf(Date.parse(to) - Date.parse(from))}`;
  return `on ${weekday(from)}, ${end}`;
}

function lengthOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}

/** One firing in a line: `2026-03-03 14:05:00 UTC, for 20 min: …`. Only of an open one is it known why nothing was sent. */
export function describeFiring(
  { created_at: from, ended_at: to, told_at: told, text }: Omit<Firing, 'id'>,
  zone: TimeZoneChoice,
  alert?: Sending & Pick<Alert, 'kind'>,
): string {
  const begun = formatInstant(Date.parse(from), zone);
  // Of budgets, each message is an entry, which the next one ends.
  const length = alert?.kind === 'budget_share' ? '' : `, for ${lengthOf(Date.parse(to ?? from) - Date.parse(from))}`;
  const why = to === null && alert !== undefined ? whyUnsent(alert, Date.now()) : null;
  return `${begun}${to === null ? ', still firing' : length}: ${text}${told === null ? ` (not sent${why === null ? '' : `: ${why}`})` : ''}`;
}

/** Where an alert looks; undefined for what belongs to no project. */
export const placeOf = (
  { kind, project_id: id }: Pick<Alert, 'kind' | 'project_id'>,
  nameOf: (id: string) => string,
): string | undefined => (KINDS[kind].takesProject ? (id === null ? 'All projects' : nameOf(id)) : undefined);
