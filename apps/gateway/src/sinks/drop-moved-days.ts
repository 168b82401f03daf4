import { beginRows, dropBelowFloor, raiseLogFloor } from '@llm0/drizzle/queries/clickhouse/log-floor';
import { leaveRowsTo } from '@llm0/drizzle/queries/log-lines/leave-rows';
import { CALLS } from '@llm0/drizzle/queries/logs/partitions';
import type { Job, JobOutcome } from '../jobs/job';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Thinned {
  /** Store that has all rows. */
  readonly name: string;
  /** Whole days that Postgres keeps; 0 = no rows, absent = all. */
  readonly postgresDays?: number | undefined;
}

/** A late correction needs its row. */
const LEAST_DAYS = 3;

/**
 * Drops days from Postgres that ClickHouse has. A day that was not compared, or whose late rows are awaited, stays. Tool
 * calls are in Postgres for some days in any case.
 */
export function dropMovedDays({ name, postgresDays }: Thinned): Job {
  return {
    name: 'log_drop',
    intervalMs: postgresDays === 0 ? MINUTE_MS : HOUR_MS,
    async run({ db, nowMs }): Promise<JobOutcome> {
      const now = nowMs();
      // Another gateway may have had another setting.
      if (postgresDays !== 0) await beginRows(db, now);
      if (postgresDays === undefined) return null;
      const floor = await (postgresDays === 0
        ? leaveRowsTo(db, name, now)
        : raiseLogFloor(db, { store: name, beforeMs: now - postgresDays * DAY_MS, nowMs: now }));
      if (floor === null) return null;
      if (floor.store !== name)
        return { message: `older rows are in ${floor.store}`, metadata: { store: floor.store }, ok: false };
      const days = await dropBelowFloor(db, floor, { nowMs: now });
      const beforeMs = Math.min(floor.ms, now - Math.max(postgresDays, LEAST_DAYS) * DAY_MS);
      const ofCalls = await raiseLogFloor(db, { store: name, beforeMs, nowMs: now, table: CALLS });
      const calls = ofCalls === null ? [] : await dropBelowFloor(db, ofCalls, { nowMs: now, table: CALLS });
      const dropped = [...new Set([...days, ...calls])].sort();
      if (dropped.length === 0) return null;
      return { message: `dropped ${dropped.join(', ')}: ClickHouse has these rows`, metadata: { days: dropped } };
    },
  };
}
