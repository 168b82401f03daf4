import { periodAt } from '@llm0/core/limits/budgets';
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { projects } from '../../schema/projects';
import { innerRow } from '../inner-names';
import { utcDay } from '../stats/utc-day';

/** A project's share of its team's monthly budget with its spend of the month; nano-USD. */
export interface UsedShare {
  readonly projectId: string;
  readonly name: string;
  readonly shareNanoUsd: number;
  readonly overdraft: boolean;
  readonly spentNanoUsd: number;
}

export interface UsedShares {
  readonly shares: readonly UsedShare[];
  /** Spend of the team's projects without a share, deleted ones included. */
  readonly othersNanoUsd: number;
}

/** Shares of a team in the month of an instant, the largest first; spend as the roll-ups know it. */
export async function listShares(db: Db, teamId: string, nowMs: number): Promise<UsedShares> {
  const { fromMs, toMs } = periodAt('month', nowMs);
  const rows = await db.execute(sql`
    select p.id as project_id, p.name, p.deleted_at is null as is_live, p.team_share_usd as share_usd,
      p.team_overdraft as overdraft, coalesce(r.spent_usd, 0) as spent_usd
    from ${projects} p left join (
      select project_id, sum(cost_usd) as spent_usd from rollup_day
      where bucket >= (${utcDay(fromMs)}::timestamp at time zone 'UTC')
        and bucket < (${utcDay(toMs)}::timestamp at time zone 'UTC') group by project_id
    ) r on r.project_id = p.id
    where p.team_id = ${teamId}::uuid and (r.spent_usd > 0 or (p.team_share_usd is not null and p.deleted_at is null))
    order by p.team_share_usd desc nulls last, p.name`);
  const all = rows.map((row) => innerRow<UsedShare & { isLive: boolean; shareNanoUsd: number | null }>(row));
  const isShare = ({ isLive, shareNanoUsd }: (typeof all)[number]) => isLive && shareNanoUsd !== null;
  const others = all.filter((one) => !isShare(one));
  return {
    shares: all.filter(isShare).map(({ isLive: _, ...share }) => share),
    othersNanoUsd: others.reduce((sum, { spentNanoUsd }) => sum + spentNanoUsd, 0),
  };
}

export const countShares = (db: Db, teamId: string): Promise<number> =>
  db.$count(
    projects,
    and(eq(projects.teamId, teamId), isNull(projects.deletedAtMs), isNotNull(projects.teamShareNanoUsd)),
  );
