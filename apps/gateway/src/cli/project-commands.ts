import { type Command, type CommandInput, type CommandOption, PAGE } from './command';
import { amount, column } from './format-table';
import { resolveProject } from './resolve-name';

const settings: Readonly<Record<string, CommandOption>> = {
  'monthly-cap-usd': { kind: 'usd', help: 'limit of a UTC month, in USD (none)' },
  'daily-budget-usd': { kind: 'usd', help: 'limit of a UTC day, in USD (none)' },
  'weekly-budget-usd': { kind: 'usd', help: 'limit of a week from Monday, UTC, in USD (none)' },
  'team-id': { kind: 'text', help: 'team that owns it (the default one)' },
  'team-share-usd': { kind: 'usd', help: "part of its team's monthly budget that is kept for it, in USD (none)" },
  'team-overdraft': { kind: 'flag', help: 'beyond its share, it may spend what no share claims (on)' },
  'strict-caps': { kind: 'flag', help: 'make the cap absolute' },
  'default-output-tokens': { kind: 'number', help: 'output tokens to hold for requests without a limit (4096)' },
  'cache-enabled': { kind: 'flag', help: 'exact cache (on)' },
  'cache-ttl-seconds': { kind: 'number', help: 'lifetime of cached answers in seconds (CACHE_TTL_SECONDS)' },
  'semantic-cache-enabled': { kind: 'flag', help: 'semantic cache (off)' },
  'semantic-threshold': { kind: 'number', help: 'least similarity, 0 to 1 (0.85)' },
  'semantic-shadow': { kind: 'flag', help: 'log semantic matches without serving them' },
  'cache-tool-calls': { kind: 'flag', help: 'also cache answers that call tools (off)' },
  'drop-params': { kind: 'flag', help: "drop parameters that a provider doesn't support (off: refuse them)" },
  failover: { kind: 'text', help: 'on or off; off tries only the first target of a name (on)' },
  passthrough: { kind: 'list', help: 'providers whose native APIs its keys may use (none)' },
  'allowed-models': { kind: 'list', help: 'models that its keys may call, separated by commas (all)' },
  'allowed-tools': { kind: 'list', help: 'MCP tools its keys may call, such as github__* (none)' },
  'code-mode': { kind: 'flag', help: 'its keys may run scripts over their MCP tools (off)' },
  'cost-center': { kind: 'text', help: "cost center in statements (the team's)" },
  labels: { kind: 'labels', help: 'labels of its requests, such as team=search,env=prod (none)' },
  'on-store-failure': {
    kind: 'text',
    help: 'while Redis is away: closed (503) or open (serve without limits) (closed)',
  },
  'unknown-model-policy': {
    kind: 'text',
    help: 'models without a price: refuse or allow_unpriced (refuse under a cap)',
  },
  'max-customers': {
    kind: 'number',
    help: 'most different customers a UTC month (100000); those with limits always pass',
  },
  'queue-timeout-ms': {
    kind: 'number',
    help: 'milliseconds that requests wait for rate and concurrency limits instead of a 429 (none)',
  },
  'is-active': { kind: 'flag', help: 'accept its keys (on)' },
};

export const PROJECT_COMMANDS: readonly Command[] = [
  {
    name: 'projects create',
    summary: 'Create a project',
    args: ['name'],
    options: settings,
    run: ({ api, args, fields }) => api.post('/projects', { ...fields, name: args.name ?? '' }),
  },
  {
    name: 'projects list',
    summary: 'List projects, newest first',
    options: PAGE,
    run: ({ api, fields }) => api.get('/projects', fields),
    columns: [
      column('id'),
      column('name'),
      amount('monthly_cap_usd', 'cap usd'),
      column('strict_caps', { title: 'strict' }),
      column('is_active', { title: 'active' }),
      column('created_at', { title: 'created' }),
    ],
  },
  {
    name: 'projects update',
    summary: 'Change the given options, from the next request',
    args: ['project'],
    options: { name: { kind: 'text', help: 'a new name' }, ...settings },
    run: async (input) => input.api.patch(await projectPath(input), input.fields),
  },
  {
    name: 'projects delete',
    summary: 'Delete a project; its keys stop working with the next request, its logs stay',
    args: ['project'],
    options: { yes: { kind: 'switch', help: 'skip the question' } },
    run: async (input) => {
      const path = await projectPath(input);
      const id = path.slice('/projects/'.length);
      if (input.fields.yes !== true) await confirm(input, id);
      await input.api.delete(path);
      input.output.note(`deleted ${id}`);
      return undefined;
    },
  },
];

/** Throws without confirmation. */
async function confirm({ ask, args }: CommandInput, id: string): Promise<void> {
  const name = args.project ?? id;
  const answer = await ask(`Delete project ${name}${name === id ? '' : ` (${id})`}? Its keys stop working. [y/N] `);
  if (answer === undefined) throw new Error('Nothing was deleted: the question got no answer. --yes skips it.');
  if (!/^(?:y|yes)$/i.test(answer.trim())) throw new Error('Nothing was deleted.');
}

const projectPath = async ({ api, args }: CommandInput) => `/projects/${await resolveProject(api, args.project ?? '')}`;
