import { type SQL, sql } from 'drizzle-orm';
import type { ProjectScope } from '../of-projects';
import type { StatsScope } from '../stats/read/questions';
import { CACHE_OF_ROW, MODALITY_OF_ROW, PROVIDER_OF_ROW } from '../stats/read/segment-sql';
import type { Ask } from '../stats/read/time-limit';
import type { StatsSegment } from '../stats/read/time-segments';
import type { RowsElsewhere } from './log-engine';
import { groupOfRows, labelOf, ROWS, rowsOf, startOf, withinRows } from './segment-rows';

type Columns = Readonly<Record<string, SQL>>;
type Row = Readonly<Record<string, unknown>>;

interface Grouped {
  readonly groups: Columns;
  readonly sums: Columns;
  /** Rows of requests unless given. */
  readonly from?: SQL;
  readonly where: SQL;
}

/** A row for each combination of groups, as Postgres would have it; the sums are texts. */
export function askGrouped(ask: Ask, { groups, sums, from = ROWS, where }: Grouped): Promise<readonly Row[]> {
  const named = Object.entries({ ...groups, ...sums }).map(([name, value]) => sql`${value} as ${sql.raw(name)}`);
  const places = sql.raw(
    Object.keys(groups)
      .map((_, index) => index + 1)
      .join(', '),
  );
  return ask<Row>(sql`select ${sql.join(named, sql`, `)} from ${from} where ${where} group by ${places}`);
}

/** Asks for each part of a range whose rows are elsewhere. */
export async function askElsewhere(
  segments: readonly StatsSegment[],
  ask: (ask: Ask, segment: StatsSegment) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (const segment of segments) {
    if (segment.elsewhere !== undefined) found.push(...(await ask(segment.elsewhere, segment)));
  }
  return found;
}

const isOfRequests = ({ isOfCalls }: StatsSegment) => isOfCalls !== true;

const REQUESTS = sql`sum(coalesce(refused_count, 1))`;
const COST = sql`sum(cost_usd)`;

interface CellsScope {
  readonly scope: StatsScope;
  readonly rows: Pick<StatsScope, 'groupBy' | 'kept'>;
  readonly columns: Pick<StatsScope, 'groupBy' | 'kept'>;
}

/** Spend by two things. */
export const askPairs = (segments: readonly StatsSegment[], { scope, rows, columns }: CellsScope) =>
  askElsewhere(segments, (ask, segment) =>
    askGrouped(ask, {
      groups: { row_name: groupOfRows(rows), column_name: groupOfRows(columns) },
      sums: { requests: REQUESTS, cost_usd: COST },
      from: rowsOf(segment),
      where: withinRows(segment, scope),
    }),
  );

type Labels = Readonly<Record<string, string>>;

const labelled = (labels: Labels): readonly SQL[] =>
  Object.entries(labels).map(([name, value]) => sql`(mapContains(labels, ${name}) and ${labelOf(name)} = ${value})`);

interface AmountsScope {
  readonly scope: StatsScope;
  readonly labels?: Labels | undefined;
  /** Only spend that the gateway estimated. */
  readonly isEstimated?: boolean;
}

/** Spend by group, model, modality and cache. */
export const askSpend = (
  segments: readonly StatsSegment[],
  { scope, labels = {}, isEstimated = false }: AmountsScope,
) =>
  // What a call costs is never estimated.
  askElsewhere(isEstimated ? segments.filter(isOfRequests) : segments, (ask, segment) =>
    askGrouped(ask, {
      groups: {
        ...{ grp: groupOfRows(scope), provider: PROVIDER_OF_ROW, model: sql`model` },
        ...{ modality: MODALITY_OF_ROW, cache: CACHE_OF_ROW },
      },
      sums: {
        ...{ requests: REQUESTS, cost_usd: COST, saved_usd: sql`sum(saved_usd)` },
        ...{ tokens_cache_read: sql`sum(tokens_cache_read)`, tokens_cache_write: sql`sum(tokens_cache_write)` },
      },
      from: rowsOf(segment),
      where: sql.join(
        [withinRows(segment, scope), ...labelled(labels), ...(isEstimated ? [sql`cost_estimated`] : [])],
        sql` and `,
      ),
    }),
  );

/** Requests by start, provider and error code; '' stands for an answer of the provider. */
export const askOutcomes = (
  segments: readonly StatsSegment[],
  { scope, isAnswered, codes }: { readonly scope: StatsScope; readonly isAnswered: boolean; readonly codes: SQL },
) =>
  // Tool calls ask no provider.
  askElsewhere(segments.filter(isOfRequests), async (ask, segment) => {
    const kind = isAnswered
      ? sql`status = 'success' and not cache_hit and not semantic_cache_hit`
      : sql`status = 'error' and error_code in (${codes})`;
    const sign = sql.raw(segment.isLess === true ? '-' : '');
    return askGrouped(ask, {
      groups: {
        start_ms: startOf(scope.intervalMs),
        provider: PROVIDER_OF_ROW,
        code: isAnswered ? sql`''` : sql`coalesce(error_code, '')`,
      },
      sums: { n: sql`${sign}toInt64(count())` },
      where: sql`${withinRows(segment, scope)} and ${kind}`,
    });
  });

const DAY_MS = 86_400_000;

/** Cost of a project's or all projects' days before the change; of rows with a label only. */
export async function askDays(elsewhere: RowsElsewhere | undefined, scope: DaysScope): Promise<readonly Row[]> {
  if (elsewhere === undefined) return [];
  const { ask, splitMs, callsMs } = elsewhere;
  const { fromMs, projectId, labels = {}, lastSeq } = scope;
  // Tool calls are in Postgres until days after they were copied.
  const ofBatches = lastSeq === undefined ? [] : [sql`batch <= ${lastSeq}`];
  const read = (from: SQL, toMs: number, more: readonly SQL[]) =>
    askGrouped(ask, {
      groups: { project_id: sql`toString(project_id)`, ms: startOf(DAY_MS) },
      sums: { cost_usd: COST },
      from,
      where: sql.join([withinRows({ fromMs, toMs }, { projectId }), ...labelled(labels), ...more], sql` and `),
    });
  return [
    ...(fromMs < splitMs ? await read(ROWS, splitMs, ofBatches) : []),
    ...(fromMs < callsMs ? await read(rowsOf({ isOfCalls: true }), callsMs, []) : []),
  ];
}

interface DaysScope {
  /** No rows of later batches. */
  readonly lastSeq?: number | undefined;
  readonly fromMs: number;
  readonly projectId?: ProjectScope;
  readonly labels?: Labels;
}
