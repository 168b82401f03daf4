import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { toolCalls } from '../../schema/tool-calls';
import { EngineAwayError } from '../clickhouse/ask-clickhouse';
import { findCall, findCalls } from '../clickhouse/call-rows';
import { callsBefore, type RowsElsewhere, withEngine } from '../clickhouse/log-engine';
import { ofProjects } from '../of-projects';
import { afterCursor, decodeCursor, encodeCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';
import { readStretches, type Stretch } from '../stats/read/read-days';
import { callRows, type StoredToolCall, type ToolCallFilter } from './call-filter';

export interface ToolCallPage extends Page<StoredToolCall> {
  /** Only part of the range was read within 3 s: `nextCursor` continues here. */
  readonly partialFromMs?: number;
}

/** null when there is none (yet). */
export async function getToolCall(db: Db, id: string): Promise<StoredToolCall | null> {
  const found = await callRows.get(db, { requestId: id });
  if (found !== null) return found;
  const elsewhere = await callsBefore(db);
  return elsewhere === undefined ? null : findCall(elsewhere.ask, id);
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** Rows carry the store's clock, which may run a little ahead. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Newest first; read in ever longer stretches of time, for at most 3 s. */
export async function listToolCalls(
  db: Db,
  filter: ToolCallFilter,
  page: PageRequest,
  nowMs: number,
): Promise<ToolCallPage> {
  const read = (elsewhere: RowsElsewhere | undefined) => {
    const isBoth = elsewhere !== undefined && elsewhere.callsMs > (filter.fromMs ?? 0);
    return isBoth ? listBoth(db, filter, page, { ...elsewhere, nowMs }) : listHere(db, filter, page, nowMs);
  };
  try {
    return await withEngine(db, { nowMs, fromMs: filter.fromMs }, read);
  } catch (error) {
    if (!(error instanceof EngineAwayError)) throw error;
    const elsewhere = await callsBefore(db);
    const fromMs = elsewhere?.callsMs ?? 0;
    const atMs = page.cursor === undefined ? undefined : decodeCursor(page.cursor).createdAtMs;
    if (Math.min(filter.toMs ?? nowMs, atMs ?? nowMs) <= fromMs) throw error;
    const recent = await listHere(db, { ...filter, fromMs }, page, nowMs);
    if (recent.nextCursor !== null) return recent;
    return { ...recent, nextCursor: encodeCursor({ createdAtMs: fromMs, id: FIRST_ID }), partialFromMs: fromMs };
  }
}

/** The newest calls from Postgres, all others from the store that has them. */
async function listBoth(
  db: Db,
  filter: ToolCallFilter,
  page: PageRequest,
  { ask, callsMs, nowMs }: RowsElsewhere & { readonly nowMs: number },
): Promise<ToolCallPage> {
  const recent = await listHere(db, { ...filter, fromMs: callsMs }, page, nowMs);
  if (recent.nextCursor !== null) return recent;
  const range = { fromMs: filter.fromMs ?? 0, toMs: Math.min(filter.toMs ?? callsMs, callsMs) };
  const at = page.cursor === undefined ? undefined : decodeCursor(page.cursor);
  const limit = page.limit + 1 - recent.data.length;
  const older = await findCalls(ask, { filter: { ...filter, ...range }, at, limit });
  return toPage([...recent.data, ...older], page.limit);
}

/** Calls that Postgres has. */
async function listHere(db: Db, filter: ToolCallFilter, page: PageRequest, nowMs: number): Promise<ToolCallPage> {
  const { fromMs, toMs, ...having } = filter;
  const read = (tx: Db, limit: number, stretch?: Stretch) => {
    const { createdAtMs, id } = toolCalls;
    const conditions = [...conditionsOf(having), ...within(stretch ?? filter), afterCursor(page, createdAtMs, id)];
    return callRows.first(tx, limit, and(...conditions), ...newestFirst(createdAtMs, id));
  };
  if (having.requestId !== undefined) return toPage(await read(db, page.limit + 1), page.limit);
  const at = page.cursor === undefined ? undefined : decodeCursor(page.cursor).createdAtMs + 1;
  const range = {
    fromMs: fromMs ?? (await firstRowMs(db, nowMs)),
    toMs: Math.min(toMs ?? nowMs + CLOCK_TOLERANCE_MS, at ?? Number.POSITIVE_INFINITY),
  };
  const found: StoredToolCall[] = [];
  const reachedMs = await readStretches(db, range, {}, async (tx, stretch) => {
    found.push(...(await read(tx, page.limit + 1 - found.length, stretch)));
    return found.length > page.limit;
  });
  if (found.length > page.limit || reachedMs <= range.fromMs) return toPage(found, page.limit);
  const nextCursor = encodeCursor({ createdAtMs: reachedMs, id: FIRST_ID });
  return { data: found, nextCursor, partialFromMs: reachedMs };
}

const within = ({ fromMs, toMs }: Partial<Stretch>): readonly (SQL | undefined)[] => [
  fromMs === undefined ? undefined : gte(toolCalls.createdAtMs, fromMs),
  toMs === undefined ? undefined : lt(toolCalls.createdAtMs, toMs),
];

type Having = Omit<ToolCallFilter, 'fromMs' | 'toMs'>;

function conditionsOf({ projectId, ...having }: Having): readonly (SQL | undefined)[] {
  const own = projectId === undefined ? undefined : ofProjects(projectId);
  const equal = (Object.keys(having) as (keyof typeof having)[]).map((name) => {
    const value = having[name];
    return value === undefined ? undefined : eq(toolCalls[name], value);
  });
  return [own, ...equal];
}

async function firstRowMs(db: Db, nowMs: number): Promise<number> {
  const [row] = await db.execute<{ ms: number | null }>(
    sql`select (extract(epoch from min(created_at)) * 1000)::float8 as ms from tool_calls`,
  );
  return Math.floor(row?.ms ?? nowMs);
}
