// Postgres unreachable: every call throws; `StoredResponses` turns that into waiting writes and a clear refusal.
import type {
  AnswerReader,
  ReadLimits,
  StoredResponse,
  StoredResponseStore,
  StoredTurn,
} from '@llm0/core/conversations/stored-responses';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { rejectingBadData } from '../../sql-state';
import { instant } from '../instant';

/** Answers by id in `kept_answers`. */
export function createStoredResponseStore(db: Db): StoredResponseStore {
  return {
    write: (answers) => writeStoredResponses(db, answers),
    readConversation: (reader, id, limits) => readConversation(db, { reader, id }, limits),
    findByItems: (reader, itemIds, nowMs) => findByItems(db, { reader, itemIds }, nowMs),
    remove: (reader, id, nowMs) => removeStoredResponse(db, { reader, id }, nowMs),
  };
}

/** Writes the rows and extends their conversations in one transaction. A repeated id changes nothing. */
async function writeStoredResponses(db: Db, answers: readonly StoredResponse[]): Promise<void> {
  const rows = JSON.stringify(answers.map(toRow));
  const continued = answers.some(({ previousId }) => previousId !== undefined);
  await rejectingBadData(async () => {
    await db.transaction(async (tx) => {
      await tx.execute(sql`
        insert into kept_answers (id, project_id, api_key_id, customer_id, previous_id, input, answer, item_ids, created_at,
          expires_at)
        select r.id, r.project_id, r.api_key_id, r.customer_id, r.previous_id, r.input, r.answer, r.item_ids,
          to_timestamp(r.created_at_ms / 1000.0), to_timestamp(r.expires_at_ms / 1000.0)
        from jsonb_to_recordset(${rows}::jsonb) as r(id uuid, project_id uuid, api_key_id uuid, customer_id text,
          previous_id uuid, input text, answer text, item_ids text[], created_at_ms bigint, expires_at_ms bigint)
        on conflict (id) do nothing`);
      if (continued) await prolong(tx, answers);
    });
  });
}

type Transaction = Parameters<Parameters<Db['transaction']>[0]>[0];

/** Stops at the first one that lives long enough, because earlier ones do as well. */
async function prolong(tx: Transaction, answers: readonly StoredResponse[]): Promise<void> {
  const heads = JSON.stringify(
    answers.flatMap(({ previousId, projectId, expiresAtMs }) =>
      previousId === undefined ? [] : [{ id: previousId, project_id: projectId, until: Math.floor(expiresAtMs) }],
    ),
  );
  await tx.execute(sql`
    with recursive chain(id, project_id, previous_id, until) as (
      select k.id, k.project_id, k.previous_id, to_timestamp(h.until / 1000.0)
      from jsonb_to_recordset(${heads}::jsonb) as h(id uuid, project_id uuid, until bigint)
      join kept_answers k on k.id = h.id and k.project_id = h.project_id
      where k.expires_at < to_timestamp(h.until / 1000.0)
      union
      select k.id, k.project_id, k.previous_id, chain.until
      from chain join kept_answers k on k.id = chain.previous_id and k.project_id = chain.project_id
      where k.expires_at < chain.until
    )
    update kept_answers k set expires_at = longest.until
    from (select id, max(until) as until from chain group by id) longest
    where k.id = longest.id`);
}

function toRow(answer: StoredResponse): Record<string, unknown> {
  return {
    id: answer.id,
    project_id: answer.projectId,
    api_key_id: answer.apiKeyId,
    customer_id: answer.customerId ?? null,
    previous_id: answer.previousId ?? null,
    input: answer.input,
    answer: answer.answer,
    item_ids: answer.itemIds,
    created_at_ms: Math.floor(answer.createdAtMs),
    expires_at_ms: Math.floor(answer.expiresAtMs),
  };
}

interface TurnRow extends Record<string, unknown> {
  id: string;
  previous_id: string | null;
  input: string;
  answer: string;
}

interface OwnId {
  readonly reader: AnswerReader;
  readonly id: string;
}

/** Rows from an older version have no key. They are readable only where all keys share answers. */
const isReadableBy = ({ projectId, apiKeyId, customerId, isShared }: AnswerReader): SQL =>
  isShared
    ? sql`k.project_id = ${projectId}::uuid`
    : sql`k.project_id = ${projectId}::uuid and k.api_key_id = ${apiKeyId}::uuid
        and k.customer_id is not distinct from ${customerId ?? null}::text`;

async function readConversation(db: Db, { reader, id }: OwnId, limits: ReadLimits): Promise<readonly StoredTurn[]> {
  const rows = await db.execute<TurnRow>(sql`
    with recursive chain as (
      select id, previous_id, input, answer, 1 as turn, length(input) + length(answer) as bytes
      from kept_answers k
      where id = ${id}::uuid and ${isReadableBy(reader)} and expires_at > ${instant(limits.nowMs)}
      union all
      select k.id, k.previous_id, k.input, k.answer, chain.turn + 1,
        chain.bytes + length(k.input) + length(k.answer)
      from chain join kept_answers k on k.id = chain.previous_id and ${isReadableBy(reader)}
      where chain.turn < ${limits.maxTurns}::int and chain.bytes < ${limits.maxBytes}::bigint
    )
    select id, previous_id, input, answer from chain order by turn`);
  return rows.map(({ previous_id: previousId, ...turn }) => ({
    id: turn.id,
    input: turn.input,
    answer: turn.answer,
    ...(previousId === null ? {} : { previousId }),
  }));
}

const MAX_FOUND = 1000;

async function findByItems(
  db: Db,
  { reader, itemIds }: { readonly reader: AnswerReader; readonly itemIds: readonly string[] },
  nowMs: number,
): Promise<readonly string[]> {
  const rows = await db.execute<{ answer: string }>(sql`
    select answer from kept_answers k
    where ${isReadableBy(reader)} and expires_at > ${instant(nowMs)}
      and item_ids && (select array_agg(value) from jsonb_array_elements_text(${JSON.stringify(itemIds)}::jsonb))
    order by created_at desc limit ${sql.raw(String(MAX_FOUND))}`);
  return rows.map(({ answer }) => answer);
}

async function removeStoredResponse(db: Db, { reader, id }: OwnId, nowMs: number): Promise<boolean> {
  const rows = await db.execute(sql`
    delete from kept_answers k
    where id = ${id}::uuid and ${isReadableBy(reader)} and expires_at > ${instant(nowMs)} returning 1`);
  return rows.length > 0;
}
