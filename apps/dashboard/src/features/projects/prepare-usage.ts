import type { Project } from '../../api/projects';
import type { SpendBucket } from '../../api/stats';
import { type Outlook, ownerOf } from './spending/prepare-outlooks';

export interface ProjectLine extends Project {
  readonly spentUsd: number;
  readonly requests: number;
  /** Used share of its cap; null without one. */
  readonly share: number | null;
  /** Spend of the last days; null if unknown. */
  readonly days: readonly number[] | null;
  /** Of its cap; absent without one. */
  readonly outlook: Outlook | undefined;
}

interface Spending {
  /** Sums of the month, by project. */
  readonly month: readonly SpendBucket[];
  readonly daysOf: (projectId: string) => readonly number[] | null;
  readonly outlooks: ReadonlyMap<string, Outlook>;
}

/** Projects with their spend. */
export function prepareProjects(projects: readonly Project[], { month, daysOf, outlooks }: Spending): ProjectLine[] {
  const byProject = new Map(month.map((bucket) => [bucket.group, bucket]));
  return projects.map((project): ProjectLine => {
    const { id, monthly_cap_usd: capUsd } = project;
    const { cost_usd: spentUsd = 0, requests = 0 } = byProject.get(id) ?? {};
    const share = capUsd === null ? null : spentUsd / capUsd;
    return { ...project, spentUsd, requests, share, days: daysOf(id), outlook: outlooks.get(ownerOf(id, id)) };
  });
}
