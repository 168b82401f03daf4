import { type Command, type CommandInput, PAGE, PROJECT } from './command';
import { amount, column } from './format-table';

const pathOf = ({ args }: CommandInput, rest = '') => `/runs/${encodeURIComponent(args.run ?? '')}${rest}`;

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
    run: (input) => input.api.get(pathOf(input), input.fields),
  },
  {
    name: 'runs raise',
    summary: 'Raise the budget of a run, which continues from its next request',
    args: ['run', 'budget_usd'],
    run: (input) => input.api.post(pathOf(input, '/raise'), { budget_usd: input.args.budget_usd ?? '' }),
  },
  {
    name: 'runs stop',
    summary: 'Stop a run for good',
    args: ['run'],
    run: (input) => input.api.post(pathOf(input, '/stop'), {}),
  },
];
