import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type Command, PROJECT, UsageError } from './command';
import { amount, column } from './format-table';
import { dataOf, isObject } from './read-list';

const FORMATS: readonly JsonValue[] = ['csv', 'json'];

/** A running month's, with its band. */
const forecast = {
  title: 'forecast usd',
  alignRight: true,
  value: ({ forecast: of }: JsonObject) => (isObject(of) ? of.expected_usd : null),
};

export const FINANCE_COMMANDS: readonly Command[] = [
  {
    name: 'finance statement',
    summary: 'Show the exact cost of a calendar month, as a table, or a file with --format csv or json',
    options: {
      month: { kind: 'text', help: 'month, such as 2026-10 (the current one)' },
      'time-zone': { kind: 'text', help: 'time zone of the month, such as Europe/Berlin (UTC)' },
      by: {
        kind: 'text',
        help: 'organization, team, project, key, model, provider, customer or label.<name> (project)',
      },
      'organization-id': { kind: 'text', help: 'only projects of this organization' },
      'team-id': { kind: 'text', help: 'only projects of this team' },
      project: PROJECT,
      model: { kind: 'text', help: 'only this model' },
      provider: { kind: 'text', help: 'only this provider' },
      'customer-id': { kind: 'text', help: 'only this customer' },
      labels: { kind: 'labels', help: 'only requests with these labels, such as team=search' },
      format: { kind: 'text', help: 'csv or json' },
    },
    run: async ({ api, fields, output }) => {
      const { format = null, labels, ...rest } = fields;
      if (format !== null && !FORMATS.includes(format)) throw new UsageError('--format must be csv or json');
      const named = Object.entries(isObject(labels) ? labels : {}).map(([name, value]) => [`label.${name}`, value]);
      const query = { ...rest, ...Object.fromEntries(named) };
      const answer = await api.get(format === 'csv' ? '/finance/statement.csv' : '/finance/statement', query);
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
];
