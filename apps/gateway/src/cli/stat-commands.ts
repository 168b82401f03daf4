import { type Command, type CommandOption, PROJECT } from './command';
import { amount, column } from './format-table';
import { dataOf } from './read-list';

const range: Readonly<Record<string, CommandOption>> = {
  from: { kind: 'text', help: 'RFC 3339 or a UTC day (24 h ago)' },
  to: { kind: 'text', help: 'RFC 3339 or a UTC day (now)' },
  project: PROJECT,
};
const buckets: Readonly<Record<string, CommandOption>> = {
  ...range,
  interval: { kind: 'text', help: 'interval, such as 5m, 1h, 1d' },
  'group-by': {
    kind: 'text',
    help: 'project, key, model, provider, target, customer, status, team, cost_center, modality or label.<name>',
  },
  modality: { kind: 'text', help: 'text, image, audio, embedding, moderation, rerank, file, batch or realtime' },
};

const p95 = (name: string) => ({
  title: `${name} p95`,
  alignRight: true,
  value: (row: Parameters<ReturnType<typeof column>['value']>[0]) => {
    const percentiles = row[`${name}_ms`];
    const value =
      typeof percentiles === 'object' && percentiles !== null && !Array.isArray(percentiles) && percentiles.p95;
    return typeof value === 'number' ? Math.round(value * 10) / 10 : null;
  },
});

/** Columns of each kind of statistics, besides start, group and requests. */
const KINDS = {
  spend: [amount('cost_usd', 'cost usd'), amount('saved_usd', 'saved usd'), amount('tokens_in'), amount('tokens_out')],
  latency: [p95('latency'), p95('ttft'), p95('overhead'), p95('upstream')],
  cache: [
    amount('cache_hits', 'exact'),
    amount('semantic_hits', 'semantic'),
    amount('misses'),
    amount('saved_usd', 'saved usd'),
  ],
  errors: [
    amount('errors'),
    amount('failures'),
    amount('caller_errors'),
    amount('rate_limited'),
    amount('cap_exceeded'),
    amount('aborted'),
    amount('failovers'),
  ],
} as const;

const bucketCommands = Object.entries(KINDS).map(
  ([kind, columns]): Command => ({
    name: `stats ${kind}`,
    summary: `${kind} over time`,
    options: buckets,
    run: ({ api, fields }) => api.get(`/stats/${kind}`, fields),
    shown: (body) => dataOf(body, 'buckets'),
    columns: [column('start'), column('group'), amount('requests'), ...columns],
  }),
);

export const STAT_COMMANDS: readonly Command[] = [
  {
    name: 'stats',
    summary: 'Totals and percentiles; also: stats spend, latency, cache, errors, tools',
    options: range,
    run: ({ api, fields }) => api.get('/stats/overview', fields),
  },
  ...bucketCommands,
  {
    name: 'reconcile',
    summary: 'Compare the counters with the rows; exit code 1 unless they agree',
    options: { project: PROJECT },
    run: ({ api, fields }) => api.get('/reconcile', fields),
    shown: (body) => dataOf(body, 'projects'),
    columns: [
      column('project_id', { title: 'project' }),
      column('month'),
      amount('counter_usd', 'counter usd'),
      amount('logs_usd', 'logs usd'),
      amount('diff_usd', 'difference usd'),
    ],
    note: ({ ok, queue_depth, open_holds }) =>
      `${ok === true ? 'even' : 'NOT EVEN'}: ${queue_depth} queued, ${open_holds} open holds`,
    hasFailed: ({ ok }) => ok !== true,
  },
  {
    name: 'cache purge',
    summary: 'Remove cached answers that match all conditions; at least one is required',
    options: {
      project: PROJECT,
      provider: { kind: 'text', help: 'only this provider' },
      model: { kind: 'text', help: 'only this model' },
      'cache-key': { kind: 'text', help: 'only this entry' },
      'older-than-seconds': { kind: 'number', help: 'only entries at least this many seconds old' },
    },
    run: ({ api, fields }) => api.post('/cache/purge', fields),
  },
];
