import { SPARK_DAYS } from '../../../api/projects';
import type { SpendBucket } from '../../../api/stats';
import { formatDay } from '../../../format/format-time';
import { formatBeside } from '../../../format/format-usd';

export const DAY_MS = 86_400_000;

/** The days up to today, UTC. */
export function sparkDays(nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const toMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  return { fromMs: toMs - SPARK_DAYS * DAY_MS, toMs };
}

const noDays = () => Array.from({ length: SPARK_DAYS }, () => 0);

interface Grouped {
  readonly buckets: readonly SpendBucket[];
  /** Number of all groups, of which the dearest are among the buckets. */
  readonly groups: number;
}

/** Days of each group; null for one that may be among those left out. */
export function prepareDays({ buckets, groups }: Grouped, fromMs: number): (group: string) => readonly number[] | null {
  const days = new Map<string, number[]>();
  for (const { start, group, cost_usd: cost } of buckets) {
    const own = days.get(group ?? '') ?? noDays();
    days.set(group ?? '', own);
    const index = Math.round((Date.parse(start) - fromMs) / DAY_MS);
    if (index >= 0 && index < SPARK_DAYS) own[index] = cost;
  }
  const isWhole = groups <= days.size;
  return (group) => days.get(group) ?? (isWhole ? noDays() : null);
}

export const sumOfDays = (days: readonly number[] | null): number | null =>
  days?.reduce((sum, usd) => sum + usd, 0) ?? null;

/** `$12.30 in 14 days, most on Nov 20 ($3.20), $1.00 today`. */
export function describeDays(days: readonly number[], nowMs: number): string {
  const sum = sumOfDays(days) ?? 0;
  if (sum === 0) return `Nothing in ${days.length} days`;
  const most = Math.max(...days);
  const fromMs = (Math.floor(nowMs / DAY_MS) + 1 - days.length) * DAY_MS;
  const at = formatDay(fromMs + days.indexOf(most) * DAY_MS, 'utc');
  const today = days.at(-1) ?? 0;
  const format = formatBeside([sum, most, today]);
  return `${format(sum)} in ${days.length} days, most on ${at} (${format(most)}), ${format(today)} today`;
}
