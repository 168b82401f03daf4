import type { Permission } from '../../api/session';
import type { RequestsSearch } from '../../range/request-filter';
import { rank } from '../../ui/combobox/rank';
import { SECTIONS } from '../shell/pages';

/** Something to go to, or to do. */
export interface Command {
  /** Stable id; recent commands refer to it. */
  readonly id: string;
  readonly kind: Kind;
  readonly label: string;
  /** Owner, beside the name. */
  readonly note?: string;
  /** Of a model: it has traffic, or its provider is set up. */
  readonly use?: 'used' | 'ready';
  /** Found by these words, too. */
  readonly words?: string;
  readonly to?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string | undefined>>;
  /** Filters and sort of a list of requests. */
  readonly filter?: RequestsSearch;
  /** Whoever lacks it does not see the command. */
  readonly needs?: Permission;
  /** Offered below all that is found. */
  readonly isLast?: true;
  /** Action of a command without a page. */
  readonly run?: () => void;
}

/** Search of a command's page: nothing of the page before, which has other fields. */
export const searchOf = ({ search, filter }: Pick<Command, 'search' | 'filter'>) => ({
  ...{ tab: search?.tab, open: search?.open },
  ...filter,
});

export const KINDS = {
  action: 'Action',
  page: 'Page',
  project: 'Project',
  key: 'Key',
  customer: 'Customer',
  alias: 'Alias',
  chain: 'Chain',
  alert: 'Alert',
  team: 'Team',
  user: 'User',
  provider: 'Provider',
  model: 'Model',
  view: 'View',
  request: 'Requests',
} as const;
type Kind = keyof typeof KINDS;

interface TabEntry {
  readonly to: string;
  readonly tab: string;
  readonly label: string;
  readonly words: string;
}

/** Tabs that people look for by name. */
const TABS: readonly TabEntry[] = [
  {
    to: '/money',
    tab: 'statement',
    label: 'Statement of a month',
    words: 'money finance invoice csv export caps budgets',
  },
  { to: '/routing', tab: 'providers', label: 'Providers', words: 'vendor keys health down outage' },
  { to: '/routing', tab: 'chains', label: 'Fallback chains', words: 'failover retries' },
  { to: '/routing', tab: 'aliases', label: 'Aliases', words: 'names of models' },
  { to: '/routing', tab: 'failovers', label: 'Failover log', words: 'switches fallback outage' },
  { to: '/guardrails', tab: 'hits', label: 'Guardrail hits', words: 'blocked redacted findings' },
  { to: '/tools', tab: 'calls', label: 'Tool calls', words: 'mcp log' },
  { to: '/teams', tab: 'users', label: 'Users', words: 'people roles invite members' },
  { to: '/teams', tab: 'sign-on', label: 'Sign-on', words: 'sso single oidc identity provider login' },
  { to: '/settings', tab: 'jobs', label: 'Job runs', words: 'background' },
  { to: '/settings', tab: 'system', label: 'System', words: 'version retention environment stores health' },
];

/** Pages with their sections, and tabs with their pages. */
export const PAGE_COMMANDS: readonly Command[] = [
  ...SECTIONS.flatMap(({ name, pages }) =>
    pages.map(
      ({ to, label, words, needs }): Command => ({
        id: `page ${to}`,
        kind: 'page',
        label,
        note: name,
        words,
        to,
        needs,
      }),
    ),
  ),
  ...TABS.map(({ to, tab, label, words }): Command => {
    const page = SECTIONS.flatMap(({ pages }) => pages).find((one) => one.to === to);
    return {
      ...{ id: `page ${tab}`, kind: 'page', label, note: page?.label, words, to },
      ...{ search: { tab }, needs: page?.needs },
    };
  }),
];

/** More are found by typing on. */
const MAX_SHOWN = 30;
/** Of models that nobody uses: the catalogue has hundreds, which leave room for all else. */
const MAX_IDLE = 10;
const MAX_RECENT = 8;

/** Finds commands for the typed text. Without text, recent ones come first, then pages and actions. */
export function findCommands(
  commands: readonly Command[],
  typed: string,
  recent: readonly string[],
): readonly Command[] {
  if (typed.trim() === '') {
    const byId = new Map(commands.map((command) => [command.id, command]));
    const lately = recent.flatMap((id) => byId.get(id) ?? []);
    const others = commands.filter(({ kind, id }) => (kind === 'page' || kind === 'action') && !recent.includes(id));
    return [...lately, ...others].slice(0, MAX_SHOWN);
  }
  const textOf = ({ label, note = '', words = '' }: Command) => `${label} ${words} ${note}`;
  const last = commands.filter(({ isLast }) => isLast);
  const named = commands.filter(({ isLast }) => isLast === undefined);
  // A guess is one by the name: among many words, some letters are always in order.
  const found = inOrder(usedFirst(rank(named, typed, textOf, ({ label }) => label)), typed);
  // Recent commands come first among equal matches.
  const place = (id: string) => (recent.includes(id) ? recent.indexOf(id) : MAX_RECENT);
  const late = new Set(found.filter(isIdle).slice(MAX_IDLE));
  const best = [...found.filter((one) => !late.has(one)), ...late].slice(0, MAX_SHOWN - last.length);
  return best
    .slice(0, 3)
    .toSorted((a, b) => place(a.id) - place(b.id))
    .concat(best.slice(3), last);
}

/** Names that are just the text come first; lists of requests that only mention it, and models that nobody uses, last. */
function inOrder(found: readonly Command[], typed: string): readonly Command[] {
  const text = typed.trim().toLowerCase();
  const placeOf = (command: Command) => {
    const label = command.label.toLowerCase();
    if (label === text) return 0;
    return isIdle(command) ? 3 : command.kind === 'request' && !label.startsWith(text) ? 2 : 1;
  };
  return found.toSorted((a, b) => placeOf(a) - placeOf(b));
}

const isIdle = ({ kind, use }: Command) => kind === 'model' && use === undefined;

const USES = ['used', 'ready', undefined] as const;

/** Sorts found models among each other: the catalogue has hundreds that nobody uses. */
function usedFirst(found: readonly Command[]): readonly Command[] {
  const isModel = ({ kind }: Command) => kind === 'model';
  const models = found
    .filter(isModel)
    .toSorted((a, b) => USES.indexOf(a.use) - USES.indexOf(b.use))
    .values();
  return found.map((command) => (isModel(command) ? (models.next().value ?? command) : command));
}

/** A customer over all of its projects; the list names each project of it. */
export function toCustomers(
  found: readonly { readonly project_id: string; readonly customer_id: string }[],
  projectName: (id: string) => string,
): readonly Command[] {
  return [...Map.groupBy(found, ({ customer_id: id }) => id)].map(([id, parts]) => ({
    ...{ id: `customer ${id}`, kind: 'customer', label: id, to: '/customers', search: { open: id } },
    note: parts.map(({ project_id: project }) => projectName(project)).join(', '),
  }));
}

/** Adds an id to the front, without duplicates. */
export const withRecent = (recent: readonly string[], id: string): readonly string[] =>
  [id, ...recent.filter((one) => one !== id)].slice(0, MAX_RECENT);
