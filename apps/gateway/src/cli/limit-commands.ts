import type { JsonObject } from '@llm0/core/chat/json';
import type { AdminClient } from './admin-client';
import { type Command, type CommandInput, PAGE, PROJECT } from './command';
import { amount, column } from './format-table';
import { getIfThere } from './read-list';
import { resolveProject } from './resolve-name';

/** Fields other than limits. */
const NOT_LIMITS = new Set(['project_id', 'customer_id', 'created_at', 'updated_at']);

export const LIMIT_COMMANDS: readonly Command[] = [
  {
    name: 'limits set',
    summary: "Set a customer's limits; omitted limits keep their values",
    args: ['project', 'customer'],
    options: {
      'daily-spend-limit-usd': { kind: 'usd', help: 'limit of a UTC day, in USD' },
      'monthly-spend-limit-usd': { kind: 'usd', help: 'limit of a UTC month, in USD' },
      'per-request-max-usd': { kind: 'usd', help: 'limit of one request, in USD' },
      'requests-per-minute': { kind: 'number', help: 'requests a minute' },
      'requests-per-hour': { kind: 'number', help: 'requests an hour' },
      'requests-per-day': { kind: 'number', help: 'requests a UTC day' },
      'model-limits': { kind: 'json', help: `by model: '{"gpt-4o":{"requests_per_day":10}}'` },
      'on-limit-behavior': { kind: 'text', help: 'block, downgrade or warn (block)' },
      'downgrade-model': { kind: 'text', help: 'model or alias that answers, with downgrade' },
    },
    run: async (input) => {
      const path = await limitsPath(input);
      return input.api.put(path, { ...(await currentLimits(input.api, path)), ...input.fields });
    },
  },
  {
    name: 'limits get',
    summary: "Show a customer's limits",
    args: ['project', 'customer'],
    run: async (input) => input.api.get(await limitsPath(input)),
  },
  {
    name: 'limits list',
    summary: 'List the customers that have limits, with what they spent',
    options: { project: PROJECT, ...PAGE },
    run: ({ api, fields }) => api.get('/customers', { ...fields, has_limits: true }),
    columns: [
      column('customer_id', { title: 'customer' }),
      column('project_id', { title: 'project' }),
      amount('today_usd', 'today'),
      amount('daily_spend_limit_usd', 'a day'),
      amount('month_usd', 'this month'),
      amount('monthly_spend_limit_usd', 'a month'),
    ],
  },
  {
    name: 'limits delete',
    summary: "Remove a customer's limits; the spend stays counted",
    args: ['project', 'customer'],
    run: async (input) => input.api.delete(await limitsPath(input)),
    note: (_, { args }) => `removed the limits of ${args.customer}`,
  },
];

async function limitsPath({ api, args }: Pick<CommandInput, 'api' | 'args'>): Promise<string> {
  const projectId = await resolveProject(api, args.project ?? '');
  return `/projects/${projectId}/customers/${encodeURIComponent(args.customer ?? '')}/limits`;
}

async function currentLimits(api: AdminClient, path: string): Promise<JsonObject> {
  const body = (await getIfThere(api, path)) ?? {};
  return Object.fromEntries(Object.entries(body).filter(([name]) => !NOT_LIMITS.has(name)));
}
