import { type Command, type CommandInput, type CommandOption, PAGE } from '../command';
import { amount, column } from '../format-table';
import { resolveName } from '../resolve-name';

const limits: Readonly<Record<string, CommandOption>> = {
  'daily-budget-usd': { kind: 'usd', help: 'limit of a UTC day over everything below, in USD (none)' },
  'weekly-budget-usd': { kind: 'usd', help: 'limit of a week from Monday, UTC, in USD (none)' },
  'monthly-cap-usd': { kind: 'usd', help: 'limit of a UTC month, in USD (none)' },
  'rate-limit-per-minute': { kind: 'number', help: 'requests a minute of everything below together (any)' },
  'tokens-per-minute': { kind: 'number', help: 'tokens a minute of everything below together (any)' },
  'allowed-models': { kind: 'list', help: 'models that everything below may call, separated by commas (all)' },
  passthrough: {
    kind: 'list',
    help: "providers whose native APIs everything below may use at most; '' = none (no limit)",
  },
  'allowed-tools': { kind: 'list', help: "MCP tools that everything below may call at most; '' = none (no limit)" },
  'guardrail-rules': { kind: 'json', help: 'guardrails of everything below, in addition to its own (none)' },
};
const ofTeam: Readonly<Record<string, CommandOption>> = {
  'key-approval': { kind: 'flag', help: 'new keys of members wait until an admin of the team approves them (off)' },
  'cost-center': { kind: 'text', help: 'cost center of its projects without their own (none)' },
};
const NAME: Readonly<Record<string, CommandOption>> = { name: { kind: 'text', help: 'a new name' } };

interface Level {
  /** Plural, as in the path. */
  readonly noun: string;
  readonly what: string;
  readonly whose: string;
  /** Positional arguments of a new one, which are fields of the API. */
  readonly args: readonly string[];
  readonly creates?: Readonly<Record<string, CommandOption>>;
  readonly changes?: Readonly<Record<string, CommandOption>>;
  readonly shown: readonly string[];
}

/** Levels above projects, from the widest. */
const LEVELS: readonly Level[] = [
  { noun: 'organizations', what: 'organization', whose: "its teams' projects", args: ['name'], shown: [] },
  {
    ...{ noun: 'teams', what: 'team', whose: 'its projects', args: ['name'], shown: ['projects', 'members'] },
    creates: { 'organization-id': { kind: 'text', help: 'its organization (the default one)' }, ...ofTeam },
    changes: ofTeam,
  },
  {
    ...{ noun: 'users', what: 'user', whose: 'the keys of the user', args: ['name', 'email'], shown: ['email'] },
    changes: {
      'is-active': { kind: 'flag', help: 'off ends the sessions, and stops the keys and tokens of the user' },
    },
  },
];

const article = (what: string) => `${/^[aeio]/.test(what) ? 'an' : 'a'} ${what}`;

const SHARES: Command = {
  name: 'teams shares',
  summary: "Show how a team's monthly budget is split among its projects",
  args: ['team'],
  run: async ({ api, args }) => {
    const id = await resolveName(api, { what: 'team', path: '/teams', idOrName: args.team ?? '' });
    return api.get(`/teams/${id}/shares`);
  },
  columns: [
    ...[column('project_id'), column('name'), amount('share_usd', 'share usd'), column('overdraft')],
    ...[amount('spent_usd', 'spent usd'), amount('drawn_usd', 'drawn usd')],
  ],
};

export const LEVEL_COMMANDS: readonly Command[] = [...LEVELS.flatMap(commandsOf), SHARES];

function commandsOf({ noun, what, whose, args, creates, changes, shown }: Level): readonly Command[] {
  const path = `/${noun}`;
  const one = async ({ api, args }: CommandInput) =>
    `${path}/${await resolveName(api, { what, path, idOrName: args[what] ?? '' })}`;
  return [
    {
      name: `${noun} create`,
      summary: `Create ${article(what)}`,
      args,
      // Limits of people are set when they have keys.
      options: what === 'user' ? {} : { ...creates, ...limits },
      run: ({ api, args, fields }) => api.post(path, { ...fields, ...args }),
    },
    {
      name: `${noun} list`,
      summary: `List ${noun}, newest first`,
      options: PAGE,
      run: ({ api, fields }) => api.get(path, fields),
      columns: [
        ...[column('id'), column('name'), ...shown.map((name) => column(name))],
        amount('daily_budget_usd', 'daily usd'),
        amount('weekly_budget_usd', 'weekly usd'),
        amount('monthly_cap_usd', 'monthly usd'),
      ],
    },
    {
      name: `${noun} update`,
      summary: `Change the given options; limits hold for ${whose} from the next request`,
      args: [what],
      options: { ...NAME, ...changes, ...limits },
      run: async (input) => input.api.patch(await one(input), input.fields),
    },
    {
      name: `${noun} delete`,
      summary: `Delete ${article(what)}`,
      args: [what],
      run: async (input) => input.api.delete(await one(input)),
      note: (_, { args }) => `deleted ${args[what]}`,
    },
  ];
}
