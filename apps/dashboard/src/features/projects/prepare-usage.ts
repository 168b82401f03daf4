import type { Project } from '../../api/projects';
import type { SpendBucket } from '../../api/stats';

export interface ProjectLine extends Project {
  readonly spentUsd: number;
  readonly requests: number;
  /** Used share of its cap; null without one. */
  readonly share: number | null;
}

/** Projects with their spend. */
export function prepareProjects(projects: readonly Project[], buckets: readonly SpendBucket[]): ProjectLine[] {
  const byProject = new Map(buckets.map((bucket) => [bucket.group, bucket]));
  return projects.map((project) => {
    const { cost_usd: spentUsd = 0, requests = 0 } = byProject.get(project.id) ?? {};
    const capUsd = project.monthly_cap_usd;
    return { ...project, spentUsd, requests, share: capUsd === null ? null : spentUsd / capUsd };
  });
}
