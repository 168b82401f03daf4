import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { asTable } from '../../clickhouse/as-table';
import { askOutcomes } from '../../clickhouse/group-rows';
import { rowsBefore } from '../../clickhouse/log-engine';
import { divideRows } from '../../clickhouse/segment-rows';
import { ATTEMPT_FAILURES, codeOfAttempt, FAILURES, HAS_LEFT, IS_FAILED_ATTEMPT } from '../../logs/failovers';
import type { ProjectScope } from '../../of-projects';
import { PROVIDER_OF_ROW, startOf, within } from './segment-sql';
import { askInTime } from './time-limit';
import { type RangeOptions, type StatsSegment, splitByOne, splitRange } from './time-segments';

const HOUR_MS = 3_600_000;

export interface HealthQuery extends RangeOptions {
  readonly projectId?: ProjectScope;
}

/** Answers and failures of a provider. */
export interface HealthBucket {
  readonly startMs: number;
  readonly provider: string;
  /** Without answers of the gateway's caches. */
  readonly answered: number;
  /** Failures of the provider, `failedOver` included. */
  readonly failed: number;
  /** Failures after which another target answered. */
  readonly failedOver: number;
  /** Requests that left it, failed there or skipped while it was paused, and that a target answered: `failover_from` lists them. */
  readonly answeredElsewhere: number;
  /** Error code of most failures; null without one. */
  readonly mainFailure: string | null;
}

type HealthRow = {
  readonly start_ms: string;
  readonly provider: string;
  /** '' for an answer. */
  readonly code: string;
  readonly elsewhere: number;
  readonly n: string;
};

/** Answers and failures by interval and provider, oldest first; buckets without requests are missing. */
export async function loadProviderHealth(db: Db, query: HealthQuery): Promise<readonly HealthBucket[]> {
  const elsewhere = await rowsBefore(db, query.fromMs);
  const answered = divideRows(splitRange(query), elsewhere);
  const failed = divideRows(splitByOne({ ...query, source: 'rollup_error', sizeMs: HOUR_MS }), elsewhere);
  const rows = await askInTime(db, async (ask) => {
    const asked = { scope: { projectId: query.projectId, intervalMs: query.intervalMs }, codes: FAILURES };
    const older = [
      ...(await askOutcomes(answered, { ...asked, isAnswered: true })),
      ...(await askOutcomes(failed, { ...asked, isAnswered: false })),
    ];
    return ask<HealthRow>(healthQuery(query, { answered, failed, older }));
  });
  return toBuckets(rows).map((bucket) =>
    query.intervalMs === undefined ? { ...bucket, startMs: query.fromMs } : bucket,
  );
}

interface HealthParts {
  readonly answered: readonly StatsSegment[];
  readonly failed: readonly StatsSegment[];
  /** Of rows that Postgres doesn't have. */
  readonly older: readonly object[];
}

/** Tool calls ask no provider. */
const isHere = ({ elsewhere, isOfCalls }: StatsSegment) => elsewhere === undefined && isOfCalls !== true;
const OLDER = 'start_ms bigint, provider text, code text, n bigint';

function healthQuery(query: HealthQuery, { answered, failed, older }: HealthParts): SQL {
  const parts = [
    ...answered.filter(isHere).map((segment) => answeredIn(segment, query)),
    ...failed.filter(isHere).map((segment) => failedIn(segment, query)),
    failedBefore(query),
    sql`select start_ms, provider, code, 0 as elsewhere, n from ${asTable(older, OLDER)}`,
  ];
  return sql`select start_ms, provider, code, elsewhere, sum(n) as n
    from (${sql.join(parts, sql` union all `)}) as parts
    where provider <> '' group by 1, 2, 3, 4 having sum(n) <> 0 order by 1, 2, 3, 4`;
}

function answeredIn(segment: StatsSegment, { intervalMs, projectId }: HealthQuery): SQL {
  const start = startOf(segment, intervalMs);
  const where = sql`${within(segment, { projectId })} and status = 'success'`;
  return segment.source === 'rows'
    ? sql`select ${start} as start_ms, ${PROVIDER_OF_ROW} as provider, ''::text as code, 0 as elsewhere, 1::bigint as n
        from gateway_logs where ${where} and not cache_hit and not semantic_cache_hit`
    : sql`select ${start} as start_ms, provider, ''::text as code, 0 as elsewhere, requests as n
        from ${sql.identifier(segment.source)} where ${where} and cache = 'miss'`;
}

function failedIn(segment: StatsSegment, { intervalMs, projectId }: HealthQuery): SQL {
  const [provider, n, table] =
    segment.source === 'rows'
      ? [PROVIDER_OF_ROW, sql`1::bigint`, sql`gateway_logs`]
      : [sql`provider`, sql`requests`, sql`rollup_error`];
  const sign = sql.raw(segment.isLess === true ? '-' : '');
  return sql`select ${startOf(segment, intervalMs)} as start_ms, ${provider} as provider, error_code as code,
      0 as elsewhere, ${sign}${n} as n
    from ${table} where ${within(segment, { projectId })} and status = 'error'
      and error_code in (${FAILURES})`;
}

/**
 * Providers that failed or were skipped before the request moved on, once each for a request. `elsewhere` is 1 where
 * another target answered. The last target of a failed request counts by its row; a skip counts where others answered.
 */
function failedBefore({ fromMs, toMs, intervalMs, projectId }: HealthQuery): SQL {
  const segment: StatsSegment = { source: 'rows', fromMs, toMs };
  return sql`select ${startOf(segment, intervalMs)} as start_ms, provider, code, answered::int as elsewhere, 1::bigint as n
    from (
      select distinct on (request_id, provider) created_at, provider, answered,
        case when is_failed then code else ${SKIPPED} end as code
      from (
        select f.created_at, f.request_id, f.switch_index, f.original_provider as provider, f.trigger_reason as code,
          ${IS_FAILED_ATTEMPT} as is_failed, ${HAS_LEFT} as has_left, bool_or(f.fallback_succeeded) over request as answered,
          last_value(f.fallback_provider) over request as last_provider,
          last_value(f.fallback_error_message) over request as last_code
        from failover_logs f where ${within(segment, { projectId })}
        window request as (partition by f.request_id order by f.switch_index
          rows between unbounded preceding and unbounded following)
      ) as switches
      where has_left and case when is_failed
        then answered or provider <> last_provider or last_code not in (${ATTEMPT_FAILURES}) else answered end
      order by request_id, provider, is_failed desc, switch_index
    ) as attempts`;
}

/** In place of an error code: the provider was paused. */
const SKIPPED = 'skipped';

interface Tally {
  readonly startMs: number;
  readonly provider: string;
  answered: number;
  failedOver: number;
  answeredElsewhere: number;
  readonly failures: Map<string, number>;
}

function toBuckets(rows: readonly HealthRow[]): readonly HealthBucket[] {
  const tallies = new Map<string, Tally>();
  for (const { start_ms: start, provider, code, elsewhere, n } of rows) {
    const startMs = Number(start);
    const none = { answered: 0, failedOver: 0, answeredElsewhere: 0 };
    const empty = () => ({ startMs, provider, ...none, failures: new Map<string, number>() });
    const tally = tallies.getOrInsertComputed(`${start} ${provider}`, empty);
    const count = Number(n);
    if (code === '') {
      tally.answered += count;
      continue;
    }
    if (Number(elsewhere) === 1) tally.answeredElsewhere += count;
    if (code === SKIPPED) continue;
    const failure = codeOfAttempt(code) ?? code;
    tally.failures.set(failure, (tally.failures.get(failure) ?? 0) + count);
    if (Number(elsewhere) === 1) tally.failedOver += count;
  }
  return [...tallies.values()].map(({ failures, ...bucket }) => {
    const [main] = [...failures].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
    return { ...bucket, failed, mainFailure: main?.[0] ?? null };
  });
}
