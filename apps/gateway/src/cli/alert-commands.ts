import { ALERT_KINDS, WEBHOOK_FORMATS } from '@llm0/core/alerts/kinds';
import { type Command, type CommandInput, type CommandOption, PAGE } from './command';
import { amount, column } from './format-table';
import { resolveName } from './resolve-name';

const settings: Readonly<Record<string, CommandOption>> = {
  kind: { kind: 'text', help: ALERT_KINDS.join(', ') },
  threshold: { kind: 'number', help: 'by kind: a share (0 to 1), milliseconds, minutes, USD, a number or a rate' },
  objective: { kind: 'number', help: 'error_budget_burn: target share of successful requests (0.99)' },
  'window-minutes': { kind: 'number', help: 'window in minutes (15)' },
  project: { kind: 'project', help: 'watch only this project (id or name)' },
  'webhook-url': { kind: 'text', help: 'URL that receives JSON with event, text and value, or mailto:ann@example.com' },
  'webhook-format': { kind: 'text', help: `${WEBHOOK_FORMATS.join(', ')} (json)` },
  'routing-key': { kind: 'text', help: "PagerDuty's integration key" },
  'muted-until': { kind: 'text', help: 'send no notification before this time, such as 2026-01-31T12:00:00Z' },
  'is-active': { kind: 'flag', help: 'check the alert (on)' },
};

const { kind, threshold, objective, project, 'window-minutes': window } = settings;
const PREVIEWED = Object.fromEntries(
  Object.entries({ kind, threshold, objective, project, 'window-minutes': window }).flatMap(([name, option]) =>
    option === undefined ? [] : [[name, option]],
  ),
);

export const ALERT_COMMANDS: readonly Command[] = [
  {
    name: 'alerts create',
    summary: 'Call a webhook when a threshold is passed, and again on recovery',
    args: ['name'],
    options: settings,
    run: ({ api, args, fields }) => api.post('/alerts', { ...fields, name: args.name ?? '' }),
  },
  {
    name: 'alerts preview',
    summary: 'Replay an alert over the last week',
    options: PREVIEWED,
    run: ({ api, fields }) => api.get('/alert-preview', fields),
  },
  {
    name: 'alerts list',
    summary: 'List alerts, newest first',
    options: PAGE,
    run: ({ api, fields }) => api.get('/alerts', fields),
    columns: [
      column('id'),
      column('name'),
      column('kind'),
      amount('threshold'),
      amount('window_minutes', 'minutes'),
      column('project_id', { title: 'project' }),
      column('is_active', { title: 'active' }),
      column('is_firing', { title: 'firing' }),
      column('was_told', { title: 'told' }),
    ],
  },
  {
    name: 'alerts firings',
    summary: 'List the firings of an alert, newest first',
    args: ['alert'],
    options: PAGE,
    run: async (input) => input.api.get(`${await alertPath(input)}/firings`, input.fields),
    columns: [
      column('created_at', { title: 'from' }),
      column('ended_at', { title: 'to' }),
      amount('value'),
      amount('highest'),
      column('told_at', { title: 'told' }),
      column('text'),
    ],
  },
  {
    name: 'alerts update',
    summary: 'Change the given options',
    args: ['alert'],
    options: { name: { kind: 'text', help: 'a new name' }, ...settings },
    run: async (input) => input.api.patch(await alertPath(input), input.fields),
  },
  {
    name: 'alerts test',
    summary: 'Call the webhook once; exit code 1 unless it answers 2xx',
    args: ['alert'],
    run: async (input) => input.api.post(`${await alertPath(input)}/test`),
  },
  {
    name: 'alerts delete',
    summary: 'Delete an alert',
    args: ['alert'],
    run: async (input) => input.api.delete(await alertPath(input)),
    note: (_, { args }) => `deleted ${args.alert}`,
  },
];

const alertPath = async ({ api, args }: CommandInput) =>
  `/alerts/${await resolveName(api, { what: 'alert', path: '/alerts', idOrName: args.alert ?? '' })}`;
