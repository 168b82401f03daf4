import { type Command, type CommandInput, type CommandOption, PAGE, PROJECT } from './command';
import { amount, column } from './format-table';
import { resolveProject } from './resolve-name';

const amounts: Readonly<Record<string, CommandOption>> = {
  'daily-usd': { kind: 'usd', help: 'limit of a UTC day, in USD (none)' },
  'weekly-usd': { kind: 'usd', help: 'limit of a week from Monday, UTC, in USD (none)' },
  'monthly-usd': { kind: 'usd', help: 'limit of a UTC month, in USD (none)' },
};

const pathOf = ({ args }: CommandInput) => `/label-budgets/${encodeURIComponent(args.id ?? '')}`;

export const LABEL_BUDGET_COMMANDS: readonly Command[] = [
  {
    name: 'label-budgets create',
    summary: "Limit the spend of a project's requests with a label, from the next request",
    args: ['project', 'label', 'value'],
    options: amounts,
    run: async ({ api, args, fields }) => {
      const { project = '', label = '', value = '' } = args;
      return api.post('/label-budgets', { ...fields, project_id: await resolveProject(api, project), label, value });
    },
  },
  {
    name: 'label-budgets list',
    summary: 'List budgets of labels, newest first',
    options: { project: PROJECT, ...PAGE },
    run: ({ api, fields }) => api.get('/label-budgets', fields),
    columns: [
      column('id'),
      column('project_id', { title: 'project' }),
      column('label'),
      column('value'),
      amount('daily_usd', 'daily usd'),
      amount('weekly_usd', 'weekly usd'),
      amount('monthly_usd', 'monthly usd'),
    ],
  },
  {
    name: 'label-budgets update',
    summary: 'Change the given amounts, from the next request',
    args: ['id'],
    options: amounts,
    run: (input) => input.api.patch(pathOf(input), input.fields),
  },
  {
    name: 'label-budgets delete',
    summary: 'Delete the budget of a label, from the next request',
    args: ['id'],
    run: (input) => input.api.delete(pathOf(input)),
    note: (_, { args }) => `deleted ${args.id}`,
  },
];

const runPath = ({ args }: CommandInput, rest = '') => `/runs/${encodeURIComponent(args.run ?? '')}${rest}`;
/** Projects may have runs of one name. */
const inProject = ({ fields }: CommandInput) =>
  fields.project_id === undefined ? '' : `?project_id=${fields.project_id}`;

export const RUN_COMMANDS: readonly Command[] = [
  {
    name: 'runs list',
    summary: "List agents' runs with a budget, newest first",
    options: { project: PROJECT, ...PAGE },
    run: ({ api, fields }) => api.get('/runs', fields),
    columns: [
      column('id'),
      column('project_id', { title: 'project' }),
      column('state'),
      amount('budget_usd', 'budget usd'),
      amount('spent_usd', 'spent usd'),
      column('requests'),
      column('tool_calls', { title: 'tool calls' }),
    ],
  },
  {
    name: 'runs show',
    summary: 'Show a run with its requests and tool calls',
    args: ['run'],
    options: { project: PROJECT },
    run: (input) => input.api.get(runPath(input), input.fields),
  },
  {
    name: 'runs raise',
    summary: 'Raise the budget of a run, which continues from its next request',
    args: ['run', 'budget_usd'],
    options: { project: PROJECT },
    run: (input) =>
      input.api.post(runPath(input, `/raise${inProject(input)}`), { budget_usd: input.args.budget_usd ?? '' }),
  },
  {
    name: 'runs stop',
    summary: 'Stop a run for good',
    args: ['run'],
    options: { project: PROJECT },
    run: (input) => input.api.post(runPath(input, `/stop${inProject(input)}`), {}),
  },
];
