import type { Key, Project } from '../../api/projects';
import type { ErrorBucket, SpendBucket } from '../../api/stats';
import { formatCount } from '../../format/format-number';
import { formatUsd, formatUsdExact } from '../../format/format-usd';
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

/** Sums of a key in the UTC month and day; absent while unknown. */
export interface KeySums {
  readonly month?: Pick<SpendBucket, 'cost_usd'>;
  readonly today?: Pick<SpendBucket, 'cost_usd'>;
  readonly outcomes?: Pick<ErrorBucket, 'requests' | 'rate_limited' | 'cap_exceeded'>;
}

/** Usage of a key in words; null where it is unknown. */
export function prepareKeyUsage(key: Key, { month, today, outcomes }: KeySums) {
  const { budget_usd: limitUsd, budget_period: period } = key;
  const isMonthly = period === 'month';
  const usedUsd = isMonthly ? month?.cost_usd : key.spent_usd;
  const spent = month && today && `${formatUsd(month.cost_usd)}, ${formatUsd(today.cost_usd)} of it today`;
  return {
    requests: outcomes === undefined ? null : formatCount(outcomes.requests),
    refused: outcomes === undefined ? null : describeRefused(outcomes),
    spent: spent ?? null,
    budget:
      limitUsd === null || usedUsd === undefined
        ? null
        : {
            text: `${formatUsd(usedUsd)} of ${formatUsdExact(limitUsd)} spent${isMonthly ? ' this month' : ', in all'}`,
            share: limitUsd > 0 ? usedUsd / limitUsd : 1,
          },
  };
}

function describeRefused({ rate_limited: limited, cap_exceeded: capped }: NonNullable<KeySums['outcomes']>): string {
  const parts = [
    limited > 0 ? `${formatCount(limited)} rate limited` : '',
    capped > 0 ? `${formatCount(capped)} over a cap or budget` : '',
  ];
  return parts.filter((part) => part !== '').join(', ') || 'none';
}
