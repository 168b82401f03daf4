import type { Timeouts } from './attempt-plan';
import type { FailoverSetting } from './failover-mode';
import type { Target } from './target';

export const STRATEGIES = ['priority', 'weighted', 'least_latency', 'cheapest'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface AliasTarget extends Target {
  /** Share of the requests with the strategy `weighted`; 0 = only when the others fail. */
  readonly weight: number;
  readonly timeouts?: Timeouts;
}

/** A model name of the operator's own for its targets. */
export interface Alias {
  readonly name: string;
  /** null = for every project. */
  readonly projectId: string | null;
  readonly targets: readonly AliasTarget[];
  readonly strategy: Strategy;
  /** Time without output until a second target is tried in parallel; absent = never. */
  readonly hedgeAfterMs?: number;
  /** false: conversations spread like other requests. */
  readonly sessionAffinity?: false;
  /** `on`: the targets' chains follow as fallbacks; `off`: one target only; null = only its targets. */
  readonly failover?: FailoverSetting | null | undefined;
  /** A plain answer that timed out is asked for elsewhere. */
  readonly retryTimeouts?: true | undefined;
  /** Changes with the alias, so that answers cached for the old one no longer match. */
  readonly version: string;
}

/** Aliases by project and name; a project's own overrides a global one. */
export interface AliasBook {
  find(projectId: string, name: string): Alias | undefined;
  /** Models of a project, each name once. */
  list(projectId: string): readonly Alias[];
}

export const noAliases: AliasBook = { find: () => undefined, list: () => [] };

export function createAliasBook(aliases: readonly Alias[]): AliasBook {
  if (aliases.length === 0) return noAliases;
  const shared = new Map<string, Alias>();
  const own = new Map<string, Map<string, Alias>>();
  for (const alias of aliases) {
    if (alias.projectId === null) {
      shared.set(alias.name, alias);
      continue;
    }
    const named = own.get(alias.projectId) ?? new Map<string, Alias>();
    own.set(alias.projectId, named.set(alias.name, alias));
  }
  return {
    find: (projectId, name) => own.get(projectId)?.get(name) ?? shared.get(name),
    list: (projectId) => [...new Map([...shared, ...(own.get(projectId) ?? [])]).values()],
  };
}
