// Budgets by day, week, month and run beside cap and key budget: the rules for both stores. A new kind is a row here.
import { DAY_MS, dayIndex, monthIndex, monthStartMs, weekIndex, weekStartMs } from './periods';

type Labels = Readonly<Record<string, string>>;
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

/** A budget that does not cover a request, and its settled spend. */
export interface SpentBudget extends Budget {
  readonly spentNanoUsd: number;
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

/** Budgets of one request. `text`: `<id> <limit> <version>` of each, as the Redis scripts take them. */
export interface RequestBudgets {
  readonly list: readonly Budget[];
  readonly text: string;
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
  project: () => 'p',
  key: ({ keyId }) => `k${keyId}`,
  label: ({ label, value }) => `l${encodeText(label)}=${encodeText(value)}`,
  run: ({ runId }) => `r${encodeText(runId)}`,
};

const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed());

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
  keyId,
  record,
  levels = {},
}: Pick<RecordedRequest, 'keyId' | 'record'> & { readonly levels?: LevelIds | undefined }): readonly Pick<
  Budget,
  'id' | 'span'
>[] {
  const { labels, runId } = read(record);
  const owners: BudgetOwner[] = [{ scope: 'project' }, { scope: 'key', keyId }];
  for (const scope of LEVELS) if (levels[scope] !== undefined) owners.push({ scope, levelId: levels[scope] });
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
  if ('levelId' in owner) return members?.has(owner.scope === 'user' ? keyId : projectId) === true;
  const { labels, runId } = read(record);
  return owner.scope === 'run' ? runId === owner.runId : labels?.[owner.label] === owner.value;
}

type Amounts = Readonly<Record<BudgetSpan, number | null>>;

function budgetsOf(owner: BudgetOwner, amounts: Partial<Amounts>, version: number): readonly Budget[] {
  return Object.entries(amounts).flatMap(([name, limitNanoUsd]) => {
    const span = name as BudgetSpan;
    return limitNanoUsd === null ? [] : [{ id: budgetId(span, owner), span, owner, limitNanoUsd, version }];
  });
}

/** Budget of an agent's run. It has one version: once counted, it stays so. */
export function runBudget(runId: string, limitNanoUsd: number): Budget {
  const owner = { scope: 'run', runId } as const;
  return { id: budgetId('run', owner), span: 'run', owner, limitNanoUsd, version: 1 };
}

/** The budgets of a request, and its run's. */
export function withRun(budgets: RequestBudgets | undefined, run: Budget | undefined): RequestBudgets | undefined {
  return run === undefined ? budgets : toRequestBudgets([...(budgets?.list ?? []), run]);
}

export const toRequestBudgets = (list: readonly Budget[]): RequestBudgets => ({
  list,
  text: list.map(({ id, limitNanoUsd, version }) => `${id} ${limitNanoUsd} ${version}`).join(' '),
});

/** Budgets of a key's requests, worked out once for a key and project. */
export class Budgets {
  private readonly ofAll: RequestBudgets | undefined;

  constructor(
    private readonly owned: readonly Budget[],
    /** By `<label>=<value>`. */
    private readonly labelled: ReadonlyMap<string, readonly Budget[]>,
  ) {
    this.ofAll = owned.length === 0 ? undefined : toRequestBudgets(owned);
  }

  /** `labels`: those of the caller, key and project. The same object for requests without a budgeted label. */
  of(labels: Labels | undefined): RequestBudgets | undefined {
    if (labels === undefined || this.labelled.size === 0) return this.ofAll;
    const named = Object.entries(labels).flatMap(
      ([label, value]) => this.labelled.get(`${encodeText(label)}=${encodeText(value)}`) ?? [],
    );
    return named.length === 0 ? this.ofAll : toRequestBudgets([...this.owned, ...named]);
  }
}

/** What a key or project sets; nano-USD, null = none. */
export interface SetBudgets {
  readonly id: string;
  readonly version: number;
  readonly dailyBudgetNanoUsd: number | null;
  readonly weeklyBudgetNanoUsd: number | null;
}

export const levelIdsOf = (levels: readonly { readonly level: Level; readonly id: string }[]): LevelIds =>
  Object.fromEntries(levels.map(({ level, id }) => [level, id]));

/** What a level sets. */
export interface LevelBudgets extends SetBudgets {
  readonly level: Level;
  readonly monthlyCapNanoUsd: number | null;
}

export interface BudgetSources {
  readonly key: SetBudgets;
  readonly project: SetBudgets;
  readonly labelBudgets: readonly LabelBudget[];
  /** Of the organization, team and user; the widest first. */
  readonly levels?: readonly LevelBudgets[];
}

/** undefined without any budget of this kind: then a request pays nothing for them. */
export function compileBudgets({ key, project, labelBudgets, levels = [] }: BudgetSources): Budgets | undefined {
  const amounts = ({ dailyBudgetNanoUsd: day, weeklyBudgetNanoUsd: week }: Omit<SetBudgets, 'id' | 'version'>) => ({
    day,
    week,
  });
  const owned = [
    ...levels.flatMap(({ level, id: levelId, version, monthlyCapNanoUsd: month, ...set }) =>
      budgetsOf({ scope: level, levelId }, { ...amounts(set), month }, version),
    ),
    ...budgetsOf({ scope: 'project' }, amounts(project), project.version),
    ...budgetsOf({ scope: 'key', keyId: key.id }, amounts(key), key.version),
  ];
  const labelled = new Map<string, readonly Budget[]>();
  for (const { label, value, dailyNanoUsd: day, weeklyNanoUsd: week, monthlyNanoUsd: month } of labelBudgets) {
    const budgets = budgetsOf({ scope: 'label', label, value }, { day, week, month }, project.version);
    if (budgets.length > 0) labelled.set(`${encodeText(label)}=${encodeText(value)}`, budgets);
  }
  return owned.length === 0 && labelled.size === 0 ? undefined : new Budgets(owned, labelled);
}
