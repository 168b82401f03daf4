// Budgets by day, week, month and run beside cap and key budget: the rules for both stores. A new kind is a row here.
import { DAY_MS, dayIndex, monthIndex, monthStartMs, weekIndex, weekStartMs } from './periods';

export type Labels = Readonly<Record<string, string>>;
/** Ids of the levels above a request. */
export type LevelIds = Readonly<Partial<Record<Level, string>>>;

/** The largest `Date`. */
const END_OF_TIME_MS = 8.64e15;

/** Periods by the first letter of a budget's id; `lua/budgets/kept.lua` computes the same indexes. */
export const SPANS = {
  day: { letter: 'd', word: 'daily', indexOf: dayIndex, startMs: (index: number) => index * DAY_MS },
  week: { letter: 'w', word: 'weekly', indexOf: weekIndex, startMs: weekStartMs },
  month: { letter: 'm', word: 'monthly', indexOf: monthIndex, startMs: monthStartMs },
  /** All the time: a run has one period. */
  run: { letter: 'r', word: 'run', indexOf: () => 1, startMs: (index: number) => (index - 1) * END_OF_TIME_MS },
} as const;
export type BudgetSpan = keyof typeof SPANS;

/** Levels above projects. Their budgets cover several projects. */
export const LEVELS = ['organization', 'team', 'user'] as const;
export type Level = (typeof LEVELS)[number];

/** All requests of a project, a key or a level, or those with a label or of an agent's run. */
export type BudgetOwner =
  | { readonly scope: Level; readonly levelId: string }
  /** A project's part of its team's budget. */
  | { readonly scope: 'share'; readonly teamId: string; readonly projectId: string }
  | { readonly scope: 'project' }
  | { readonly scope: 'key'; readonly keyId: string }
  | { readonly scope: 'label'; readonly label: string; readonly value: string }
  | { readonly scope: 'run'; readonly runId: string };

/** A limit of a period, with a counter of its own. */
export interface Budget {
  /** Names its counter at its home: `dp`, `wk<key>`, `ml<label>=<value>`, `dt<team>`. No spaces, colons or line breaks. */
  readonly id: string;
  readonly span: BudgetSpan;
  readonly owner: BudgetOwner;
  readonly limitNanoUsd: number;
  /** Version of the key or project that sets it. After a skipped version, its spend is counted anew from the rows. */
  readonly version: number;
}

/** Of a limit that does not cover a request. */
export interface Spend {
  readonly limitNanoUsd: number;
  /** Settled. */
  readonly spentNanoUsd: number;
  /** Reserved by open requests. */
  readonly heldNanoUsd: number;
}

/** A budget that does not cover a request. */
export interface SpentBudget extends Budget, Spend {
  /** Part of a team's budget that other projects' shares still claim; its limit is without it. */
  readonly keptNanoUsd?: number;
}

/** The part of a team's monthly budget that no share claims. A request takes of it what its project's share doesn't cover. */
export interface Rest {
  readonly team: Budget;
  /** The project's own, among the budgets of the request; without one, all is taken of the rest. */
  readonly share: Budget | undefined;
  /** Those of the other projects: what they haven't used stays theirs. */
  readonly others: readonly Budget[];
}

/** A budget whose spend is counted from the rows. */
export interface BudgetSum extends Pick<Budget, 'owner'> {
  readonly projectId: string;
  /** Its period: [from, to). */
  readonly fromMs: number;
  readonly toMs: number;
  /** Requests that are left out, because their settlements are booked. */
  readonly except: readonly string[];
}

/** A store's answer before it has counted a budget from the rows: nobody is admitted under it until then. */
export interface Uncounted {
  readonly type: 'uncounted';
  readonly nowMs: number;
}

/**
 * Budgets of one request. `text`: `<id> <limit> <version>` of each, as the Redis scripts take them. With a rest, `<limit>+` is
 * the share that may be exceeded, and `<limit>-` are those of other projects.
 */
export interface RequestBudgets {
  readonly list: readonly Budget[];
  readonly text: string;
  readonly rest?: Rest | undefined;
}

/** A project's budget for requests with a label. Nano-USD; null = none. */
export interface LabelBudget {
  readonly label: string;
  readonly value: string;
  readonly dailyNanoUsd: number | null;
  readonly weeklyNanoUsd: number | null;
  readonly monthlyNanoUsd: number | null;
}

/** Owner's part of a budget's id. */
const OWNER_IDS: { readonly [S in BudgetOwner['scope']]: (owner: Extract<BudgetOwner, { scope: S }>) => string } = {
  organization: ({ levelId }) => `o${levelId}`,
  team: ({ levelId }) => `t${levelId}`,
  user: ({ levelId }) => `u${levelId}`,
  share: ({ teamId, projectId }) => `t${teamId}/${projectId}`,
  project: () => 'p',
  key: ({ keyId }) => `k${keyId}`,
  label: ({ label, value }) => `l${encodeText(label)}=${encodeText(value)}`,
  run: ({ runId }) => `r${encodeText(runId)}`,
};

export const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed());

export function budgetId(span: BudgetSpan, owner: BudgetOwner): string {
  const idOf = OWNER_IDS[owner.scope] as (owner: BudgetOwner) => string;
  return SPANS[span].letter + idOf(owner);
}

/** Stands for a project: the counters of all levels are there, so that one decision reads them. */
export const SHARED_HOME = 'shared';

/** Where the counter of a budget is: at its project, or with those of the levels. `lua/budgets/home.lua` has the same rule. */
export const homeOf = (id: string, projectId: string): string => (/^.[otu]/.test(id) ? SHARED_HOME : projectId);

/** Counter of the budget in the period of an instant: `<id>:<index>`. */
export const counterOf = ({ id, span }: Pick<Budget, 'id' | 'span'>, ms: number): string =>
  `${id}:${SPANS[span].indexOf(ms)}`;

/** Milliseconds of a period: [from, to). */
export function periodOf(span: BudgetSpan, index: number): { readonly fromMs: number; readonly toMs: number } {
  const { startMs } = SPANS[span];
  return { fromMs: startMs(index), toMs: startMs(index + 1) };
}

/** The period of an instant. */
export const periodAt = (span: BudgetSpan, ms: number) => periodOf(span, SPANS[span].indexOf(ms));

/** A request of which the store knows the record only. */
interface RecordedRequest {
  readonly projectId: string;
  readonly keyId: string;
  readonly record: string;
}

/** All budgets that may cover a request, for a settlement without a hold: the store books those it counts. */
export function coveringBudgets({
  projectId,
  keyId,
  record,
  levels = {},
}: RecordedRequest & { readonly levels?: LevelIds | undefined }): readonly Pick<Budget, 'id' | 'span'>[] {
  const { labels, runId } = read(record);
  const owners: BudgetOwner[] = [{ scope: 'project' }, { scope: 'key', keyId }];
  for (const scope of LEVELS) if (levels[scope] !== undefined) owners.push({ scope, levelId: levels[scope] });
  if (levels.team !== undefined) owners.push({ scope: 'share', teamId: levels.team, projectId });
  for (const [label, value] of Object.entries(labels ?? {})) owners.push({ scope: 'label', label, value });
  const calendar = owners.flatMap((owner) => CALENDAR.map((span) => ({ id: budgetId(span, owner), span })));
  return typeof runId === 'string'
    ? [...calendar, { id: budgetId('run', { scope: 'run', runId }), span: 'run' }]
    : calendar;
}

const CALENDAR = ['day', 'week', 'month'] as const;

const read = (record: string) => JSON.parse(record) as { labels?: Labels | null; runId?: string | null };

/** A budget with the projects of its organization or team, or the keys of its user; absent: its project alone has it. */
export type MemberBudget<B = Budget> = B & { readonly members?: ReadonlySet<string> | undefined };

/** True if the request counts against the budget. */
export function covers(
  { owner, members }: MemberBudget<Pick<Budget, 'owner'>>,
  { projectId, keyId, record }: RecordedRequest,
): boolean {
  if (owner.scope === 'project') return true;
  if (owner.scope === 'key') return owner.keyId === keyId;
  if (owner.scope === 'share') return owner.projectId === projectId;
  if ('levelId' in owner) return members?.has(owner.scope === 'user' ? keyId : projectId) === true;
  const { labels, runId } = read(record);
  return owner.scope === 'run' ? runId === owner.runId : labels?.[owner.label] === owner.value;
}

/** Budget of an agent's run. It has one version: once counted, it stays so. */
export function runBudget(runId: string, limitNanoUsd: number): Budget {
  const owner = { scope: 'run', runId } as const;
  return { id: budgetId('run', owner), span: 'run', owner, limitNanoUsd, version: 1 };
}

/** The budgets of a request, and its run's. */
export function withRun(budgets: RequestBudgets | undefined, run: Budget | undefined): RequestBudgets | undefined {
  return run === undefined ? budgets : toRequestBudgets([...(budgets?.list ?? []), run], budgets?.rest);
}

export function toRequestBudgets(list: readonly Budget[], rest?: Rest): RequestBudgets {
  const textOf = ({ id, limitNanoUsd, version }: Budget, mark: string) => `${id} ${limitNanoUsd}${mark} ${version}`;
  const own = list.map((budget) => textOf(budget, budget === rest?.share ? '+' : ''));
  const others = (rest?.others ?? []).map((budget) => textOf(budget, '-'));
  return { list, text: [...own, ...others].join(' '), rest };
}

/** Budgets that a decision reads. */
export const readBudgets = ({ list, rest }: RequestBudgets): readonly Budget[] =>
  rest === undefined ? list : [...list, ...rest.others];

export const levelIdsOf = (levels: readonly { readonly level: Level; readonly id: string }[]): LevelIds =>
  Object.fromEntries(levels.map(({ level, id }) => [level, id]));
