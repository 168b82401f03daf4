// Budgets of a key's requests, from what key, project, labels and levels set.
import {
  type Budget,
  type BudgetOwner,
  type BudgetSpan,
  budgetId,
  encodeText,
  type LabelBudget,
  type Labels,
  type Level,
  type RequestBudgets,
  type Rest,
  toRequestBudgets,
} from './budgets';

type Amounts = Readonly<Record<BudgetSpan, number | null>>;

function budgetsOf(owner: BudgetOwner, amounts: Partial<Amounts>, version: number): readonly Budget[] {
  return Object.entries(amounts).flatMap(([name, limitNanoUsd]) => {
    const span = name as BudgetSpan;
    return limitNanoUsd === null ? [] : [{ id: budgetId(span, owner), span, owner, limitNanoUsd, version }];
  });
}

/** Budgets of a key's requests, worked out once for a key and project. */
export class Budgets {
  private readonly ofAll: RequestBudgets | undefined;

  constructor(
    private readonly owned: readonly Budget[],
    /** By `<label>=<value>`. */
    private readonly labelled: ReadonlyMap<string, readonly Budget[]>,
    private readonly rest: Rest | undefined,
  ) {
    this.ofAll = owned.length === 0 ? undefined : toRequestBudgets(owned, rest);
  }

  /** `labels`: those of the caller, key and project. The same object for requests without a budgeted label. */
  of(labels: Labels | undefined): RequestBudgets | undefined {
    if (labels === undefined || this.labelled.size === 0) return this.ofAll;
    const named = Object.entries(labels).flatMap(
      ([label, value]) => this.labelled.get(`${encodeText(label)}=${encodeText(value)}`) ?? [],
    );
    return named.length === 0 ? this.ofAll : toRequestBudgets([...this.owned, ...named], this.rest);
  }
}

/** What a key or project sets; nano-USD, null = none. */
export interface SetBudgets {
  readonly id: string;
  readonly version: number;
  readonly dailyBudgetNanoUsd: number | null;
  readonly weeklyBudgetNanoUsd: number | null;
}

/** What a level sets. */
export interface LevelBudgets extends SetBudgets {
  readonly level: Level;
  readonly monthlyCapNanoUsd: number | null;
}

/** A project's part of its team's monthly budget. */
export interface TeamShare {
  readonly projectId: string;
  readonly shareNanoUsd: number;
  /** Beyond it, the project takes of the part that no share claims. */
  readonly hasOverdraft: boolean;
}

export interface BudgetSources {
  readonly key: SetBudgets;
  readonly project: SetBudgets;
  readonly labelBudgets: readonly LabelBudget[];
  /** Of the organization, team and user; the widest first. */
  readonly levels?: readonly LevelBudgets[];
  /** Of all projects of the team. */
  readonly shares?: readonly TeamShare[];
}

/** undefined without any budget of this kind: then a request pays nothing for them. */
export function compileBudgets({
  key,
  project,
  labelBudgets,
  levels = [],
  shares = [],
}: BudgetSources): Budgets | undefined {
  const amounts = ({ dailyBudgetNanoUsd: day, weeklyBudgetNanoUsd: week }: Omit<SetBudgets, 'id' | 'version'>) => ({
    day,
    week,
  });
  const ofLevels = levels.flatMap(({ level, id: levelId, version, monthlyCapNanoUsd: month, ...set }) =>
    budgetsOf({ scope: level, levelId }, { ...amounts(set), month }, version),
  );
  const { share, rest } = splitTeam(ofLevels, project.id, shares);
  const owned = [
    ...ofLevels,
    ...(share === undefined ? [] : [share]),
    ...budgetsOf({ scope: 'project' }, amounts(project), project.version),
    ...budgetsOf({ scope: 'key', keyId: key.id }, amounts(key), key.version),
  ];
  const labelled = new Map<string, readonly Budget[]>();
  for (const { label, value, dailyNanoUsd: day, weeklyNanoUsd: week, monthlyNanoUsd: month } of labelBudgets) {
    const budgets = budgetsOf({ scope: 'label', label, value }, { day, week, month }, project.version);
    if (budgets.length > 0) labelled.set(`${encodeText(label)}=${encodeText(value)}`, budgets);
  }
  return owned.length === 0 && labelled.size === 0 ? undefined : new Budgets(owned, labelled, rest);
}

/**
 * Splits a team's monthly budget; no one's without shares. The rest bounds a request iff its project is not kept within its
 * share: team's spend + unspent shares of the others + hold <= budget. So each share is a floor, and no sum is kept for it.
 */
function splitTeam(
  ofLevels: readonly Budget[],
  projectId: string,
  shares: readonly TeamShare[],
): { readonly share?: Budget | undefined; readonly rest?: Rest | undefined } {
  const team = ofLevels.find(({ owner, span }) => owner.scope === 'team' && span === 'month');
  if (team === undefined || shares.length === 0 || !('levelId' in team.owner)) return {};
  const teamId = team.owner.levelId;
  const toBudget = ({ projectId: id, shareNanoUsd: month }: TeamShare) =>
    budgetsOf({ scope: 'share', teamId, projectId: id }, { month }, team.version);
  const own = shares.find((one) => one.projectId === projectId);
  const [share] = own === undefined ? [] : toBudget(own);
  if (own?.hasOverdraft === false) return { share };
  const others = shares.filter((one) => one !== own).flatMap(toBudget);
  return { share, rest: { team, share, others } };
}
