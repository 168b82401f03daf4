import { type Command, type CommandInput, PAGE, PROJECT } from './command';
import { amount, column } from './format-table';

const pathOf = ({ args }: CommandInput, rest = '') => `/batches/${encodeURIComponent(args.batch ?? '')}${rest}`;

export const BATCH_COMMANDS: readonly Command[] = [
  {
    name: 'batches list',
    summary: 'List batches of requests, newest first',
    options: {
      project: PROJECT,
      status: { kind: 'text', help: 'in_progress, completed, cancelled and others' },
      ...PAGE,
    },
    run: ({ api, fields }) => api.get('/batches', fields),
    columns: [
      column('batch_id', { title: 'batch' }),
      column('project_id', { title: 'project' }),
      column('status'),
      column('endpoint'),
      column('total', { title: 'lines' }),
      column('completed'),
      column('failed'),
      amount('cost_usd', 'cost usd'),
      amount('bound_usd', 'at most usd'),
    ],
  },
  {
    name: 'batches show',
    summary: 'Show a batch with its progress and its cost so far',
    args: ['batch'],
    run: (input) => input.api.get(pathOf(input)),
  },
  {
    name: 'batches cancel',
    summary: 'Cancel a batch; lines under way end',
    args: ['batch'],
    run: (input) => input.api.post(pathOf(input, '/cancel'), {}),
  },
];
