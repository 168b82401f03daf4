import type { JsonObject } from '@llm0/core/chat/json';
import { type Command, PAGE, PROJECT, UsageError } from './command';
import { amount, column } from './format-table';
import { dataOf, isObject } from './read-list';

const FILES: Readonly<Record<string, string>> = {
  csv: '/finance/statement.csv',
  json: '/finance/statement',
  focus: '/finance/focus.csv',
};

/** A running month's, with its band. */
const forecast = {
  title: 'forecast usd',
  alignRight: true,
  value: ({ forecast: of }: JsonObject) => (isObject(of) ? of.expected_usd : null),
};

export const FINANCE_COMMANDS: readonly Command[] = [
  {
    name: 'finance statement',
    summary: 'Show the exact cost of a calendar month, as a table, or a file with --format csv, json or focus',
    options: {
      month: { kind: 'text', help: 'month, such as 2026-10 (the current one)' },
      'time-zone': { kind: 'text', help: 'time zone of the month, such as Europe/Berlin (UTC)' },
      by: {
        kind: 'text',
        help: 'organization, team, cost_center, project, key, model, provider, modality, customer or label.<name> (project)',
      },
      'organization-id': { kind: 'text', help: 'only projects of this organization' },
      'team-id': { kind: 'text', help: 'only projects of this team' },
      'cost-center': { kind: 'text', help: 'only projects with this cost center' },
      project: PROJECT,
      model: { kind: 'text', help: 'only this model' },
      provider: { kind: 'text', help: 'only this provider' },
      modality: { kind: 'text', help: 'only this modality, such as image' },
      'customer-id': { kind: 'text', help: 'only this customer' },
      labels: { kind: 'labels', help: 'only requests with these labels, such as team=search' },
      format: { kind: 'text', help: 'csv, json or focus (FOCUS 1.3)' },
    },
    run: async ({ api, fields, output }) => {
      const { format = null, labels, ...rest } = fields;
      const path = format === null ? '/finance/statement' : FILES[String(format)];
      if (path === undefined) throw new UsageError('--format must be csv, json or focus');
      const named = Object.entries(isObject(labels) ? labels : {}).map(([name, value]) => [`label.${name}`, value]);
      const query = { ...rest, ...Object.fromEntries(named) };
      const answer = await api.get(path, query);
      if (format === null) return answer;
      output.raw(answer.text.trimEnd());
      return undefined;
    },
    shown: (body) => [...dataOf(body, 'rows'), { ...(isObject(body.total) ? body.total : {}), name: 'Total' }],
    columns: [
      column('name'),
      amount('requests'),
      amount('cost_usd', 'cost usd'),
      amount('previous_usd', 'month before usd'),
      amount('change_usd', 'change usd'),
      { title: 'change %', alignRight: true, value: (row) => (row.is_new === true ? 'new' : row.change_percent) },
      amount('saved_usd', 'saved usd'),
      amount('estimated_usd', 'estimated usd'),
      forecast,
    ],
    note: ({ month, time_zone: zone, currency, filters, notes }) => {
      if (month === undefined) return undefined;
      const narrowed = Object.entries(isObject(filters) ? filters : {}).map(([name, value]) => `${name}=${value}`);
      const said = Array.isArray(notes) ? notes : [];
      return [[month, zone, currency, ...narrowed].join(', '), ...said].join('\n');
    },
  },
  {
    name: 'finance close',
    summary: 'Close a month for good: its statements no longer change, later corrections are in the next open month',
    args: ['month'],
    options: {
      'time-zone': { kind: 'text', help: 'time zone of the month, such as Europe/Berlin (UTC)' },
      'organization-id': { kind: 'text', help: 'only projects of this organization' },
      'team-id': { kind: 'text', help: 'only projects of this team' },
    },
    run: ({ api, args, fields }) => api.post('/finance/statement/close', { ...fields, month: args.month ?? '' }),
  },
  {
    name: 'finance closings',
    summary: 'List closed months, newest first',
    options: PAGE,
    run: ({ api, fields }) => api.get('/finance/closings', fields),
    columns: [
      ...[column('month'), column('time_zone', { title: 'time zone' }), column('organization_id'), column('team_id')],
      ...[amount('projects'), amount('cost_usd', 'cost usd'), amount('corrections_usd', 'corrections usd')],
      ...[column('closed_by', { title: 'closed by' }), column('created_at', { title: 'closed' })],
    ],
  },
];
