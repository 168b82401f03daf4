// ClickHouse away: nothing is suggested, and nobody knows since when a provider fails.
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { instant } from '../instant';
import { ofProjects, type ProjectScope } from '../of-projects';
import { asTable } from './as-table';
import { EngineAwayError } from './ask-clickhouse';
import { type RowsElsewhere, rowsBefore } from './log-engine';
import { NO_ROWS_MS } from './log-floor';
import { CREATED_MS, instantOf, isOfProjects, listOf, ROWS } from './segment-rows';

/** Where Postgres gets no rows. */
async function rowsAlone(db: Db): Promise<RowsElsewhere | undefined> {
  const elsewhere = await rowsBefore(db);
  return elsewhere !== undefined && elsewhere.splitMs >= NO_ROWS_MS ? elsewhere : undefined;
}

/** An answer of ClickHouse that readers can do without. */
async function orElse<T>(none: T, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof EngineAwayError) return none;
    throw error;
  }
}

interface Newest {
  readonly projectId?: ProjectScope;
  readonly limit: number;
  readonly sinceMs?: number;
}

/** HTTP status and labels of the newest rows, as a table of Postgres: `newest`. */
export async function newestRows(db: Db, { projectId, limit, sinceMs }: Newest): Promise<SQL> {
  const elsewhere = await rowsAlone(db);
  if (elsewhere === undefined) {
    return sql`(select http_status, labels from gateway_logs
      where ${sinceMs === undefined ? sql`true` : sql`created_at >= ${instant(sinceMs)}`} and ${ofProjects(projectId)}
      order by created_at desc, id desc limit ${limit}) as newest`;
  }
  const asked = elsewhere.ask(sql`select http_status, labels from gateway_logs
    where created_at >= ${instantOf(sinceMs ?? 0)} and ${isOfProjects(projectId)} order by created_at desc limit ${limit}`);
  return sql`(select * from ${asTable(await orElse([], asked), 'http_status int, labels jsonb')}) as newest`;
}

interface Failing {
  readonly provider: string;
  readonly models: readonly string[];
  readonly fromMs: number;
}

/** Where Postgres gets no rows: the last answer of these models, and their first failure since; null without one. */
export async function askOutage(
  db: Db,
  { provider, models, fromMs }: Failing,
): Promise<{ readonly answeredMs: number | null; readonly failedMs: number | null } | undefined> {
  const elsewhere = await rowsAlone(db);
  if (elsewhere === undefined) return undefined;
  const own = sql`final_provider = ${provider} and model in (${listOf(models)})`;
  const find = async (what: SQL, where: SQL, sinceMs: number) => {
    const [row] = await elsewhere.ask<{ ms: string; n: string }>(
      sql`select ${what} as ms, count() as n from ${ROWS} where ${own} and ${where} and created_at > ${instantOf(sinceMs)}`,
    );
    return Number(row?.n ?? 0) === 0 ? null : Number(row?.ms);
  };
  const isAnswer = sql`status = 'success' and not cache_hit and not semantic_cache_hit`;
  const isFailure = sql`status = 'error' and error_code like 'upstream%'`;
  const ask = async () => {
    const answeredMs = await find(sql`max(${CREATED_MS})`, isAnswer, fromMs - 1);
    return { answeredMs, failedMs: await find(sql`min(${CREATED_MS})`, isFailure, answeredMs ?? fromMs) };
  };
  return models.length === 0 ? undefined : orElse({ answeredMs: null, failedMs: null }, ask());
}
