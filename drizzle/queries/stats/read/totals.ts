import type { Outcome } from '@llm0/core/errors/outcome';
import { type SQL, sql } from 'drizzle-orm';
import { nanoFromUsd } from '../../../money';
import { askSums, type SumsRow } from '../../clickhouse/segment-rows';
import { OTHER_GROUPS, type StatsScope, SUM_COLUMNS, SUMS, type SumColumn } from './questions';
import { groupOf, OUTCOME_OF_ROW, selectHomes, startOf, tableOf, within } from './segment-sql';
import type { Ask } from './time-limit';
import type { StatsSegment } from './time-segments';

/** Sums over a stretch of time; exact. */
export type UsageTotals = Readonly<Record<keyof typeof SUMS, number>>;

const NAMES = Object.keys(SUMS) as (keyof UsageTotals)[];
const eachSum = (of: (name: keyof UsageTotals) => number) =>
  Object.fromEntries(NAMES.map((name) => [name, of(name)])) as UsageTotals;

export const ZERO: UsageTotals = eachSum(() => 0);
export const addTotals = (a: UsageTotals, b: UsageTotals): UsageTotals => eachSum((name) => a[name] + b[name]);

type Stopped = 'rateLimited' | 'capExceeded' | 'callerErrors';

/** Requests that came to the gateway's caches: what limits refused and callers got wrong never did. */
export const reachedCaches = ({ requests, ...stopped }: Pick<UsageTotals, 'requests' | Stopped>): number =>
  requests - stopped.rateLimited - stopped.capExceeded - stopped.callerErrors;

/** Sums by bucket and group, oldest first. */
export async function loadTotals(ask: Ask, segments: readonly StatsSegment[], scope: StatsScope) {
  const here = segments.filter(({ elsewhere }) => elsewhere === undefined);
  const rows = here.length === 0 ? [] : await ask<SumsRow>(totalsQuery(here, scope));
  const placed = rows.map(toPlaced);
  return here.length === segments.length ? placed : addElsewhere(ask, placed, { segments, scope });
}

type Placed = ReturnType<typeof toPlaced>;

/** Adds the sums of rows that Postgres isn't asked for. */
async function addElsewhere(ask: Ask, placed: readonly Placed[], { segments, scope }: Omit<TopOfRows, 'top'>) {
  const sums = new Map(placed.map((one) => [bucketKey(one.startMs, one.group), one]));
  const wanted = wantedOf(scope);
  const nameOf = await loadNames(ask, scope);
  for (const segment of segments) {
    if (segment.elsewhere === undefined) continue;
    for (const row of await askSums(segment.elsewhere, segment, { scope, wanted })) {
      const { startMs, group: given, totals } = toPlaced(row);
      const group = nameOf(given);
      const key = bucketKey(startMs, group);
      const known = sums.get(key)?.totals ?? ZERO;
      const signed = segment.isLess === true ? eachSum((name) => -totals[name]) : totals;
      sums.set(key, { startMs, group, totals: addTotals(known, signed) });
    }
  }
  const isMoney = wanted.includes('cost_usd');
  const isAny = ({ totals }: Placed) => totals.requests !== 0 || (isMoney && totals.costNanoUsd !== 0);
  return [...sums.values()]
    .filter(isAny)
    .sort((a, b) => a.startMs - b.startMs || ((a.group ?? '') < (b.group ?? '') ? -1 : 1));
}

/** Groups of rows elsewhere → their names; projects are where Postgres says. */
export async function loadNames(ask: Ask, { groupBy, kept }: StatsScope) {
  if (groupBy !== 'team' && groupBy !== 'cost_center') return (group: string | null) => group;
  const homes = await ask<{ id: string; name: string }>(selectHomes(groupBy));
  const names = new Map(homes.map(({ id, name }) => [id, name]));
  return (group: string | null) => {
    const name = names.get(group ?? '') ?? '';
    return kept === undefined || kept.includes(name) ? name : OTHER_GROUPS;
  };
}

/**
 * Totals of rows in one pass: only the dearest groups keep their names. Also returns the number of groups. Ties resolve
 * by name, as everywhere.
 */
export async function loadTopOfRows(ask: Ask, { segments, scope, top }: TopOfRows) {
  const added = sql.raw(SUM_COLUMNS.map((name) => `sum(${name}) as ${name}`).join(', '));
  const rows = await ask<SumsRow & { readonly groups: string }>(sql`
    with sums as materialized (${totalsQuery(segments, scope)}), ranked as materialized (
      select grp, row_number() over (order by sum(cost_usd) desc, sum(requests) desc, grp) as place from sums group by grp
    )
    select start_ms, case when place <= ${top} then grp else ${OTHER_GROUPS} end as grp, ${added},
      (select count(*) from ranked) as groups
    from sums join ranked using (grp) group by 1, 2 order by 1, 2`);
  return { totals: rows.map(toPlaced), groups: Number(rows[0]?.groups ?? 0) };
}

interface TopOfRows {
  readonly segments: readonly StatsSegment[];
  readonly scope: StatsScope;
  readonly top: number;
}

const toPlaced = (row: SumsRow) => ({ startMs: Number(row.start_ms), group: row.grp, totals: toTotals(row) });

const toTotals = (row: SumsRow) =>
  eachSum((name) => (name.endsWith('NanoUsd') ? nanoFromUsd(row[SUMS[name]]) : Number(row[SUMS[name]])));

export const bucketKey = (startMs: number, group: string | null) => `${startMs} ${group}`;

/** The place that a `bucketKey` names. */
export function placeOfKey(key: string): { readonly startMs: number; readonly group: string } {
  const cut = key.indexOf(' ');
  return { startMs: Number(key.slice(0, cut)), group: key.slice(cut + 1) };
}

const LESS = sql.raw(SUM_COLUMNS.map((name) => `-${name} as ${name}`).join(', '));

/** Unrequested sums are zero: each sum costs time for every row. */
function summed(wanted: readonly SumColumn[]): SQL {
  const columns = SUM_COLUMNS.map((name) => (wanted.includes(name) ? `sum(${name}) as ${name}` : `0 as ${name}`));
  return sql.raw(columns.join(', '));
}

const OUTCOME_COLUMNS = {
  success: 'success',
  error: 'failures',
  caller_error: 'caller_errors',
  rate_limited: 'rate_limited',
  cap_exceeded: 'cap_exceeded',
  aborted: 'aborted',
} as const satisfies Record<Outcome, SumColumn>;

const byOutcome = (requests: SQL, outcome: SQL) => {
  const counted = (names: string, column: SumColumn) =>
    sql`case when ${outcome} in (${sql.raw(names)}) then ${requests} else 0 end as ${sql.raw(column)}`;
  const each = Object.entries(OUTCOME_COLUMNS).map(([name, column]) => counted(`'${name}'`, column));
  return sql.join([...each, counted("'error', 'caller_error'", 'errors')], sql`, `);
};
/** A row may count many refusals. */
const ROW_REQUESTS = sql`coalesce(refused_count, 1)`;
const TOKENS_AND_MONEY = sql.raw(
  'tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_usd, saved_usd',
);

/** One row for each bucket and group: sums over all segments. */
function totalsQuery(segments: readonly StatsSegment[], scope: StatsScope): SQL {
  const parts = segments.map((segment) => {
    const rows = segment.source === 'rows';
    const counts = rows
      ? sql`${ROW_REQUESTS} as requests, ${byOutcome(ROW_REQUESTS, OUTCOME_OF_ROW)}, ${TOKENS_AND_MONEY},
          (cache_hit and not semantic_cache_hit)::int as exact_hits, semantic_cache_hit::int as semantic_hits,
          failover_count as failovers`
      : sql`requests, ${byOutcome(sql`requests`, sql`status`)}, ${TOKENS_AND_MONEY},
          case when cache = 'exact' then requests else 0 end as exact_hits,
          case when cache = 'semantic' then requests else 0 end as semantic_hits, failovers`;
    const part = sql`select ${startOf(segment, scope.intervalMs)} as start_ms, ${groupOf(segment, scope)} as grp, ${counts}
      from ${tableOf(segment, scope)} where ${within(segment, scope)}`;
    return segment.isLess === true ? sql`select start_ms, grp, ${LESS} from (${part}) as less` : part;
  });
  const { shown, by } = placeOf(scope);
  return sql`select ${shown}, ${summed(wantedOf(scope))} from (${sql.join(parts, sql` union all `)}) as parts
    ${by === undefined ? sql`` : sql`group by ${by}`} having ${isAnything(scope)} ${by === undefined ? sql`` : sql`order by ${by}`}`;
}

const COUNTS = SUM_COLUMNS.filter((name) => !/^(tokens|cost|saved)_/.test(name));

/** Error roll-ups only count requests, so rows beside them must not add tokens and money. */
const wantedOf = ({ groupBy, sums = SUM_COLUMNS }: StatsScope): readonly SumColumn[] =>
  groupBy === 'error_code' ? sums.filter((name) => COUNTS.includes(name)) : sums;

/** Tool calls are money without requests; they only appear in cost queries. */
const isAnything = (scope: StatsScope): SQL =>
  wantedOf(scope).includes('cost_usd') ? sql`sum(requests) <> 0 or sum(cost_usd) <> 0` : sql`sum(requests) <> 0`;

/** Start and group of result rows; groups by as few columns as possible, because each costs time for every row. */
function placeOf({ intervalMs, groupBy }: StatsScope): { readonly shown: SQL; readonly by: SQL | undefined } {
  const start = intervalMs === undefined ? sql`0::bigint as start_ms` : sql`start_ms`;
  const shown = sql`${start}, ${groupBy === undefined ? sql`null::text as grp` : sql`grp`}`;
  const by = [intervalMs === undefined ? undefined : sql`start_ms`, groupBy === undefined ? undefined : sql`grp`];
  const named = by.filter((column) => column !== undefined);
  return { shown, by: named.length === 0 ? undefined : sql.join(named, sql`, `) };
}
