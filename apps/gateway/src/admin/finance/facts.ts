import type { Amount, Estimated } from '@llm0/drizzle/queries/finance/amounts';
import type { ProjectHome } from '@llm0/drizzle/queries/finance/who';
import type { MonthAmounts } from './statement';

/** Groups that the roll-ups and closed months know. */
export const FACT_GROUPS = [
  ...(['organization', 'team', 'cost_center', 'project', 'key', 'model', 'provider', 'modality'] as const),
] as const;
export type FactGroup = (typeof FACT_GROUPS)[number];
export const isFactGroup = (by: string): by is FactGroup => FACT_GROUPS.some((one) => one === by);

/** Groups that projects belong to. */
export const LEVEL_IDS = { organization: 'organizationId', team: 'teamId', cost_center: 'costCenter' } as const;
export type LevelGroup = keyof typeof LEVEL_IDS;
export const isLevelGroup = (by: string): by is LevelGroup => Object.hasOwn(LEVEL_IDS, by);

/** Restricts to projects of one place. */
export type Within = Partial<Record<(typeof LEVEL_IDS)[LevelGroup], string>>;

export const isWithin = (home: ProjectHome, within: Within): boolean =>
  Object.entries(within).every(([name, value]) => home[name as keyof Within] === value);

/** With its project's place and its key's name, as they count for it. */
export type Placed<T> = T & { readonly home: ProjectHome; readonly keyName: string };

/** A month by project, or by key. */
export interface FactMonth {
  readonly amounts: readonly Placed<Amount>[];
  /** null = no longer known. */
  readonly estimated: readonly Placed<Estimated>[] | null;
  readonly isRounded: boolean;
}

type Entry = Placed<Pick<Amount, 'group' | 'model' | 'modality'>>;

interface Part {
  readonly idOf: (entry: Entry) => string;
  readonly nameOf: (entry: Entry) => string | null | undefined;
}

const ofHome = (id: keyof Within, name: 'organization' | 'team' | 'costCenter'): Part => ({
  idOf: ({ home }) => home[id] ?? '',
  nameOf: ({ home }) => home[name],
});
const ofModel = (name: 'name' | 'provider'): Part => ({
  idOf: ({ model }) => model?.[name] ?? '',
  nameOf: ({ model }) => model?.[name],
});

const PARTS: Readonly<Record<FactGroup, Part>> = {
  organization: ofHome('organizationId', 'organization'),
  team: ofHome('teamId', 'team'),
  cost_center: ofHome('costCenter', 'costCenter'),
  project: { idOf: ({ home }) => home.id, nameOf: ({ home }) => home.name },
  key: { idOf: ({ group }) => group, nameOf: ({ home, keyName }) => `${home.name} / ${keyName}` },
  model: ofModel('name'),
  provider: ofModel('provider'),
  modality: { idOf: ({ modality }) => modality ?? '', nameOf: ({ modality }) => modality },
};

/** A project's group of levels. */
export const levelOf = (by: LevelGroup, home: ProjectHome | undefined): string => home?.[LEVEL_IDS[by]] ?? '';

/** The month by other groups; notes their names. */
export function groupFacts(month: FactMonth, by: FactGroup, names: Map<string, string>): Omit<MonthAmounts, 'range'> {
  const { idOf, nameOf } = PARTS[by];
  const grouped = <T extends Entry>(entry: T) => {
    const group = idOf(entry);
    names.set(group, nameOf(entry) || group);
    return { ...entry, group };
  };
  return {
    amounts: month.amounts.map(grouped),
    estimated: month.estimated?.map(grouped) ?? null,
    isRounded: month.isRounded,
  };
}

/** All of a month's parts together. */
export const joinFacts = (parts: readonly FactMonth[]): FactMonth => ({
  amounts: parts.flatMap(({ amounts }) => amounts),
  estimated: parts.some(({ estimated }) => estimated === null)
    ? null
    : parts.flatMap(({ estimated }) => estimated ?? []),
  isRounded: parts.some(({ isRounded }) => isRounded),
});
