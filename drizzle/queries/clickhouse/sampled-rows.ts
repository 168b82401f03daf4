import { type SQL, sql } from 'drizzle-orm';
import type { ProjectScope } from '../of-projects';
import type { MetricName } from '../stats/read/questions';
import type { Stretch } from '../stats/read/read-days';
import { CACHE_OF_ROW, OUTCOME_OF_ROW, PROVIDER_OF_ROW, TARGET_OF_ROW } from '../stats/read/segment-sql';
import type { Ask } from '../stats/read/time-limit';
import { askGrouped } from './group-rows';
import type { RowsElsewhere } from './log-engine';
import { instantOf, isOfProjects, ROWS } from './segment-rows';

/** A window of time as samples have it. */
export interface Window extends Stretch {
  readonly part: number;
  readonly weight: number;
}

/** Windows before and after the change between the stores. */
export function divideWindows<T extends Window>(windows: readonly T[], elsewhere: RowsElsewhere | undefined) {
  const splitMs = elsewhere?.splitMs ?? 0;
  const cut = (one: T, stretch: Partial<Stretch>) => ({ ...one, ...stretch });
  const isAny = ({ fromMs, toMs }: Stretch) => fromMs < toMs;
  return {
    older: windows.map((one) => cut(one, { toMs: Math.min(one.toMs, splitMs) })).filter(isAny),
    here: windows.map((one) => cut(one, { fromMs: Math.max(one.fromMs, splitMs) })).filter(isAny),
  };
}

/** Rows of a project before an instant, counted up to a limit. */
export async function countUpTo(
  { ask, splitMs }: RowsElsewhere,
  { fromMs, toMs, projectId }: Stretch & { readonly projectId?: ProjectScope },
  limit: number,
): Promise<number> {
  if (fromMs >= splitMs) return 0;
  const [row] = await ask<{ n: string }>(sql`select count() as n from (
    select 1 from ${ROWS} where ${inWindow({ fromMs, toMs: Math.min(toMs, splitMs) })} and ${isOfProjects(projectId)}
    limit ${limit})`);
  return Number(row?.n ?? 0);
}

const inWindow = ({ fromMs, toMs }: Stretch): SQL =>
  sql`(created_at >= ${instantOf(Math.ceil(fromMs))} and created_at < ${instantOf(Math.ceil(toMs))})`;

interface Sampled {
  readonly windows: readonly Window[];
  readonly projectId?: ProjectScope;
}

/** Each part of the time has one weight. */
async function askParts(
  { ask, ...sampled }: Sampled & { readonly ask: Ask | undefined },
  read: (ask: Ask, where: SQL) => ReturnType<typeof askGrouped>,
) {
  const { windows, projectId } = sampled;
  const found = [];
  if (ask === undefined) return [];
  for (const [part, own] of Map.groupBy(windows, (one) => one.part)) {
    const within = sql.join(own.map(inWindow), sql` or `);
    const rows = await read(ask, sql`(${within}) and ${isOfProjects(projectId)}`);
    found.push(...rows.map((row) => ({ ...row, part, weight: own[0]?.weight ?? 1 })));
  }
  return found;
}

type Asked = Sampled & { readonly ask: Ask | undefined };

/** Ways through the gateway with their number of requests. */
export const askFlows = (asked: Asked) =>
  askParts(asked, (ask, where) =>
    askGrouped(ask, {
      groups: {
        ...{ project_id: sql`toString(project_id)`, requested_model: sql`requested_model`, provider: TARGET_OF_ROW },
        ...{ is_cached: sql`${CACHE_OF_ROW} <> 'miss'`, outcome: OUTCOME_OF_ROW },
      },
      sums: { n: sql`sum(coalesce(refused_count, 1))` },
      where,
    }),
  );

interface Region {
  readonly metric: MetricName;
  readonly minMs: number;
  readonly maxMs: number;
}

/** Number of rows by all fields in which requests may differ, and whether their duration is within bounds. */
export const askCells = (asked: Asked, { metric, minMs, maxMs }: Region) =>
  askParts(asked, (ask, where) => {
    const ms = sql.raw(`${metric}_ms`);
    return askGrouped(ask, {
      groups: {
        ...{ is_within: sql`${ms} >= ${minMs} and ${ms} <= ${maxMs}`, model: sql`model`, provider: PROVIDER_OF_ROW },
        ...{ api_key_id: sql`toString(api_key_id)`, cache: CACHE_OF_ROW, stream: sql`stream` },
        digits: sql.raw('if(tokens_total = 0, 0, least(10, length(toString(tokens_total))))'),
      },
      sums: { n: sql`count()` },
      where: sql`${where} and ${ms} is not null`,
    });
  });
