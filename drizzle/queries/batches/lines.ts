import { and, asc, eq, gte, inArray, lt, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { usdFromNano } from '../../money';
import { batchLines, type LineState } from '../../schema/batches';
import { toArrayText } from '../array-text';

/** A line of the input file, in the order of the file. */
export interface NewLine {
  readonly line: number;
  readonly customId: string;
  readonly at: number;
  readonly length: number;
  readonly boundNanoUsd: number;
}

export async function insertLines(db: Db, batchId: string, lines: readonly NewLine[]): Promise<void> {
  if (lines.length === 0) return;
  const column = (read: (line: NewLine) => unknown) => toArrayText(lines.map(read));
  await db.execute(sql`
    insert into batch_lines (batch_id, line, custom_id, at, length, bound_usd)
    select ${batchId}::uuid, * from unnest(${column(({ line }) => line)}::int[], ${column((one) => one.customId)}::text[],
      ${column(({ at }) => at)}::bigint[], ${column(({ length }) => length)}::int[],
      ${column((one) => usdFromNano(one.boundNanoUsd))}::numeric[])`);
}

/** A range of lines: [from, to). */
export interface LineRange {
  readonly batchId: string;
  readonly from: number;
  readonly to: number;
  /** Without those that a vendor has. */
  readonly isOwn?: boolean | undefined;
}

const inRange = ({ batchId, from, to }: LineRange) =>
  and(eq(batchLines.batchId, batchId), gte(batchLines.line, from), lt(batchLines.line, to));

export interface ClaimedLine extends NewLine {
  readonly state: LineState;
  readonly resultAt: number | null;
  readonly resultLength: number | null;
}

/** The lines of a range without an answer, now this run's: an earlier run of them can't end them any more. */
export async function claimLines(db: Db, range: LineRange, owner: string): Promise<readonly ClaimedLine[]> {
  const own = range.isOwn === true ? eq(batchLines.isOwn, true) : undefined;
  const open = and(inRange(range), inArray(batchLines.state, ['waiting', 'running']), own);
  const claimed = await db.update(batchLines).set({ owner }).where(open).returning(LINE);
  return claimed.toSorted((a, b) => a.line - b.line);
}

const LINE = {
  line: batchLines.line,
  customId: batchLines.customId,
  at: batchLines.at,
  length: batchLines.length,
  boundNanoUsd: batchLines.boundNanoUsd,
  state: batchLines.state,
  resultAt: batchLines.resultAt,
  resultLength: batchLines.resultLength,
};

/** Takes it unless another run or a cancellation was faster. */
export async function startLines(
  db: Db,
  batchId: string,
  owner: string,
  lines: readonly number[],
): Promise<Set<number>> {
  const mine = and(
    eq(batchLines.batchId, batchId),
    eq(batchLines.owner, owner),
    inArray(batchLines.line, [...lines]),
    inArray(batchLines.state, ['waiting', 'running']),
  );
  const started = await db
    .update(batchLines)
    .set({ state: 'running' })
    .where(mine)
    .returning({ line: batchLines.line });
  return new Set(started.map(({ line }) => line));
}

/** Lines that a run has begun and won't end. */
export async function releaseLines(db: Db, batchId: string, owner: string): Promise<void> {
  const mine = and(eq(batchLines.batchId, batchId), eq(batchLines.owner, owner), eq(batchLines.state, 'running'));
  await db.update(batchLines).set({ state: 'waiting' }).where(mine);
}

/** The end of a line. */
export interface LineResult {
  readonly line: number;
  readonly state: 'completed' | 'failed';
  readonly requestId: string;
  readonly httpStatus: number;
  readonly costNanoUsd: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly answer: string;
}

/** Writes results with the batch's sums in one statement. A line that has one, or another owner, keeps what it has. */
export async function endLines(
  db: Db,
  { batchId, owner }: { readonly batchId: string; readonly owner: string },
  results: readonly LineResult[],
): Promise<number> {
  if (results.length === 0) return 0;
  const column = (read: (result: LineResult) => unknown) => toArrayText(results.map(read));
  const lines = sql`${column(({ line }) => line)}::int[]`;
  const [row] = await db.execute<{ count: number }>(sql`
    with ended as (
      update batch_lines l set state = r.state, request_id = r.request_id, http_status = r.http_status,
        cost_usd = r.cost_usd, tokens_in = r.tokens_in, tokens_out = r.tokens_out, answer = r.answer
      from unnest(${lines}, ${column(({ state }) => state)}::text[],
        ${column(({ requestId }) => requestId)}::uuid[], ${column(({ httpStatus }) => httpStatus)}::int[],
        ${column(({ costNanoUsd }) => usdFromNano(costNanoUsd))}::numeric[], ${column((one) => one.tokensIn)}::int[],
        ${column((one) => one.tokensOut)}::int[], ${column(({ answer }) => answer)}::text[])
        as r(line, state, request_id, http_status, cost_usd, tokens_in, tokens_out, answer)
      where l.batch_id = ${batchId}::uuid and l.line = any(${lines}) and l.line = r.line and l.owner = ${owner}::uuid
        and l.state in ('waiting', 'running')
      returning l.state, l.cost_usd, l.tokens_in, l.tokens_out),
    sums as (select count(*) filter (where state = 'completed') as completed,
        count(*) filter (where state = 'failed') as failed, coalesce(sum(cost_usd), 0) as cost_usd,
        coalesce(sum(tokens_in), 0) as tokens_in, coalesce(sum(tokens_out), 0) as tokens_out, count(*) as count from ended)
    update batches b set completed = b.completed + s.completed, failed = b.failed + s.failed,
      cost_usd = b.cost_usd + s.cost_usd, tokens_in = b.tokens_in + s.tokens_in, tokens_out = b.tokens_out + s.tokens_out
    from sums s where b.id = ${batchId}::uuid returning s.count::int as count`);
  return row?.count ?? 0;
}

/** Leaves lines to the gateway, and all others of the batch to its vendor. */
export async function keepLines(db: Db, batchId: string, lines: readonly number[]): Promise<void> {
  await db.execute(sql`
    update batch_lines set is_own = not is_own
    where batch_id = ${batchId}::uuid and is_own <> (line in (select unnest(${toArrayText(lines)}::int[])))`);
}

interface GivenUp {
  readonly state: 'expired' | 'cancelled';
  /** Only those that run here while a vendor has the others. */
  readonly isOwn?: boolean;
}

/** Ends lines that nobody has asked for yet. It waits for no run that takes some just now, which looks again at its end. */
export async function giveUpLines(db: Db, batchId: string, { state, isOwn = false }: GivenUp): Promise<void> {
  await db.execute(sql`
    with given_up as (
      update batch_lines set state = ${state} where batch_id = ${batchId}::uuid and line = any(array(
        select line from batch_lines where batch_id = ${batchId}::uuid and state = 'waiting'
          and result_at is null and (is_own or not ${isOwn}) for update skip locked))
      returning 1)
    update batches set ${sql.raw(state)} = ${sql.raw(state)} + (select count(*) from given_up) where id = ${batchId}::uuid`);
}

/** Lines without an end, and the most that those may cost that nobody has asked for yet. */
export async function sumOpenLines(
  db: Db,
  batchId: string,
): Promise<{ readonly open: number; readonly waitingNanoUsd: number }> {
  const [row] = await db.execute<{ open: number; waiting: string }>(sql`
    select count(*)::int as open, (coalesce(sum(bound_usd) filter (where state = 'waiting'), 0) * 1000000000)::bigint as waiting
    from batch_lines where batch_id = ${batchId}::uuid and state in ('waiting', 'running')`);
  return { open: row?.open ?? 0, waitingNanoUsd: Number(row?.waiting ?? 0) };
}

export interface EndedLine {
  readonly line: number;
  readonly customId: string;
  readonly state: LineState;
  readonly requestId: string | null;
  readonly httpStatus: number | null;
  readonly answer: string | null;
}

/** Lines of a range with their ends, in order. */
export async function readLines(db: Db, range: LineRange): Promise<readonly EndedLine[]> {
  const { line, customId, state, requestId, httpStatus, answer } = batchLines;
  const columns = { line, customId, state, requestId, httpStatus, answer };
  return db.select(columns).from(batchLines).where(inRange(range)).orderBy(asc(batchLines.line));
}

/** The output file has them. */
export async function forgetAnswers(db: Db, batchId: string): Promise<void> {
  await db.execute(sql`update batch_lines set answer = null where batch_id = ${batchId}::uuid and answer is not null`);
}

/** A vendor's result of a line, in the file of results. */
export interface ResultPlace {
  readonly line: number;
  readonly at: number;
  readonly length: number;
}

/** Before the results of a file are placed: none of another file is left. */
export async function forgetPlaces(db: Db, batchId: string): Promise<void> {
  await db.execute(sql`
    update batch_lines set result_at = null, result_length = null where batch_id = ${batchId}::uuid and result_at is not null`);
}

/** The first result of a line stands. */
export async function placeResults(db: Db, batchId: string, places: readonly ResultPlace[]): Promise<void> {
  const column = (read: (place: ResultPlace) => number) => toArrayText(places.map(read));
  const lines = sql`${column(({ line }) => line)}::int[]`;
  await db.execute(sql`
    update batch_lines l set result_at = r.at, result_length = r.length
    from (select distinct on (line) * from unnest(${lines}, ${column(({ at }) => at)}::bigint[],
      ${column(({ length }) => length)}::int[]) as r(line, at, length) order by line, at) as r
    where l.batch_id = ${batchId}::uuid and l.line = any(${lines}) and l.line = r.line and l.result_at is null`);
}
