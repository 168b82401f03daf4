// Postgres unreachable: every call throws; the semantic cache above turns that into misses and waiting writes.
import type {
  SemanticCandidate,
  SemanticEntry,
  SemanticGroup,
  SemanticHitCount,
  SemanticSearch,
  SemanticStore,
} from '@llm0/core/cache/semantic/semantic-store';
import { type SQL, sql } from 'drizzle-orm';
import pgvector from 'pgvector';
import type { Db } from '../../client';
import type { LookUps } from '../../look-up-pool';
import { rejectingBadData } from '../../sql-state';
import { instant } from '../instant';
import { fromJsonb, toJsonb } from '../jsonb-text';
import { GroupSizes } from './group-sizes';
import { writeSemanticMatches } from './semantic-matches';

export interface SemanticStoreOptions {
  readonly db: Db;
  /** On separate connections if available, so that slow ones don't block others. */
  readonly lookUps: LookUps;
  /** Groups from here on are searched by HNSW, smaller ones exactly. */
  readonly largeGroup?: number;
}

const LARGE_GROUP = 5000;
/** Maximum of dimensions that pgvector indexes; larger vectors need an exact scan. */
const MAX_INDEXED_DIMENSIONS = 2000;

/** The semantic cache in `semantic_cache`. */
export function createSemanticStore({ db, lookUps, largeGroup = LARGE_GROUP }: SemanticStoreOptions): SemanticStore {
  const sizes = new GroupSizes((group) => countGroup(lookUps, group, largeGroup));
  const indexed = new Set<number>();
  return {
    isAvailable: () => hasSemanticTable(lookUps),
    findNearest: async (search) => {
      const isIndexed = search.vector.length <= MAX_INDEXED_DIMENSIONS;
      const isLarge = isIndexed && (await sizes.sizeOf(search.group)) >= largeGroup;
      return isLarge ? findByIndex(lookUps, search) : findExactly(lookUps, search);
    },
    readValue: (projectId, cacheKey) => readValue(lookUps, projectId, cacheKey),
    write: async (entries) => {
      for (const dimensions of new Set(entries.map(({ vector }) => vector.length))) {
        if (indexed.has(dimensions)) continue;
        await ensureVectorIndex(db, dimensions);
        indexed.add(dimensions);
      }
      await writeEntries(db, entries);
    },
    countHits: (hits, nowMs) => countHits(db, hits, nowMs),
    writeMatches: (matches) => writeSemanticMatches(db, matches),
  };
}

/** True where the table and the columns of look-ups are there: with pgvector. */
async function hasSemanticTable(lookUps: LookUps): Promise<boolean> {
  const [row] = await lookUps.read<{ n: number }>(
    sql`select (to_regclass('semantic_cache_group') is not null)::int as n`,
  );
  return row?.n === 1;
}

/** One partial index for each number of dimensions in use. Takes a lock that only writers of this table wait for. */
export async function ensureVectorIndex(db: Db, dimensions: number): Promise<void> {
  if (dimensions > MAX_INDEXED_DIMENSIONS) return;
  const n = sql.raw(String(Math.trunc(dimensions)));
  const name = sql.raw(`semantic_cache_hnsw_${Math.trunc(dimensions)}`);
  await db.transaction(async (tx) => {
    // Two gateways at once would both find none.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('semantic_cache_index'))`);
    await tx.execute(sql`create index if not exists ${name} on semantic_cache
      using hnsw ((embedding::vector(${n})) vector_cosine_ops) where dimensions = ${n}`);
  });
}

const inGroup = (group: SemanticGroup): SQL => sql`project_id = ${group.projectId}::uuid
  and provider = ${group.provider} and model = ${group.model} and fingerprint = ${group.fingerprint}`;

async function countGroup(lookUps: LookUps, group: SemanticGroup, upTo: number): Promise<number> {
  const [row] = await lookUps.read<{ n: number }>(sql`
    select count(*)::int as n from (select 1 from semantic_cache where ${inGroup(group)} limit ${upTo}) one`);
  return row?.n ?? 0;
}

interface FoundRow extends Record<string, unknown> {
  cache_key: string;
  question: string;
  similarity: number;
  is_rejected: boolean;
  expires_at_ms: number;
  value: string | null;
}

/** Finds by the group's b-tree, in exact order. */
async function findExactly(lookUps: LookUps, search: SemanticSearch): Promise<readonly SemanticCandidate[]> {
  // Without the cast the expression is none that HNSW indexes.
  return toCandidates(await lookUps.read<FoundRow>(nearest(search, sql`embedding`)));
}

/** Finds by HNSW, scanning until it has enough rows of the group. */
async function findByIndex(lookUps: LookUps, search: SemanticSearch): Promise<readonly SemanticCandidate[]> {
  const n = sql.raw(String(search.vector.length));
  return toCandidates(await lookUps.readByIndex<FoundRow>(nearest(search, sql`embedding::vector(${n})`)));
}

function nearest({ group, vector, questionHash, nowMs, limit, valueFrom }: SemanticSearch, embedding: SQL): SQL {
  const wanted = pgvector.toSql(Array.from(vector));
  const n = sql.raw(String(vector.length));
  return sql`
    select c.cache_key, c.original_prompt as question, 1 - c.distance as similarity, c.expires_at_ms, exists (
        select 1 from semantic_rejections r where r.project_id = ${group.projectId}::uuid
          and ((r.question_hash = ${questionHash} and r.matched_hash = c.question_hash)
            or (r.question_hash = c.question_hash and r.matched_hash = ${questionHash}))
      ) as is_rejected,
      case when 1 - c.distance >= ${valueFrom}::float8 and row_number() over (order by c.distance) = 1 then (
        select v.cached_response::text from semantic_cache v
        where v.project_id = ${group.projectId}::uuid and v.cache_key = c.cache_key
      ) end as value
    from (
      select cache_key, original_prompt, question_hash,
        ${embedding} <=> ${wanted}::vector(${n}) as distance,
        (extract(epoch from expires_at) * 1000)::float8 as expires_at_ms
      from semantic_cache
      where ${inGroup(group)} and dimensions = ${n} and expires_at > ${instant(nowMs)}
      order by distance
      limit ${limit}
    ) c order by c.distance`;
}

const toCandidates = (rows: readonly FoundRow[]): readonly SemanticCandidate[] =>
  rows.map((row) => ({
    cacheKey: row.cache_key,
    question: row.question,
    similarity: Number(row.similarity),
    isRejected: row.is_rejected,
    expiresAtMs: Number(row.expires_at_ms),
    ...(row.value === null ? {} : { value: fromJsonb(row.value) }),
  }));

async function readValue(lookUps: LookUps, projectId: string, cacheKey: string): Promise<string | null> {
  const [row] = await lookUps.read<{ value: string }>(sql`
    select cached_response::text as value from semantic_cache
    where project_id = ${projectId}::uuid and cache_key = ${cacheKey}`);
  return row === undefined ? null : fromJsonb(row.value);
}

/** One statement for all; of entries with the same key the last one counts, and an older one never replaces a newer. */
async function writeEntries(db: Db, entries: readonly SemanticEntry[]): Promise<void> {
  const byKey = new Map(entries.map((entry) => [`${entry.projectId} ${entry.cacheKey}`, entry]));
  const rows = `[${[...byKey.values()].map(toRow).join(',')}]`;
  await rejectingBadData(() =>
    db.execute(sql`
      insert into semantic_cache (project_id, cache_key, fingerprint, provider, model, dimensions, embedding,
        original_prompt, question_hash, prompt_tokens, completion_tokens, cached_response, created_at, expires_at)
      select r.project_id, r.cache_key, r.fingerprint, r.provider, r.model, r.dimensions, r.embedding::vector,
        r.original_prompt, r.question_hash, r.prompt_tokens, r.completion_tokens, r.cached_response,
        to_timestamp(r.created_at_ms / 1000.0), to_timestamp(r.expires_at_ms / 1000.0)
      from jsonb_to_recordset(${rows}::jsonb) as r(project_id uuid, cache_key text, fingerprint text, provider text,
        model text, dimensions int, embedding text, original_prompt text, question_hash text, prompt_tokens bigint,
        completion_tokens bigint, cached_response jsonb, created_at_ms bigint, expires_at_ms bigint)
      on conflict (project_id, cache_key) do update set fingerprint = excluded.fingerprint,
        provider = excluded.provider, model = excluded.model, dimensions = excluded.dimensions,
        embedding = excluded.embedding, original_prompt = excluded.original_prompt,
        question_hash = excluded.question_hash, prompt_tokens = excluded.prompt_tokens,
        completion_tokens = excluded.completion_tokens, cached_response = excluded.cached_response,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      where semantic_cache.created_at <= excluded.created_at`),
  );
}

/** The value is JSON text and stays unchanged. */
function toRow(entry: SemanticEntry): string {
  const columns = {
    project_id: entry.projectId,
    cache_key: entry.cacheKey,
    fingerprint: entry.fingerprint,
    provider: entry.provider,
    model: entry.model,
    dimensions: entry.vector.length,
    embedding: pgvector.toSql(Array.from(entry.vector)),
    original_prompt: entry.question,
    question_hash: entry.questionHash,
    prompt_tokens: entry.promptTokens,
    completion_tokens: entry.completionTokens,
    created_at_ms: Math.floor(entry.createdAtMs),
    expires_at_ms: Math.floor(entry.expiresAtMs),
  };
  return `${JSON.stringify(columns).slice(0, -1)},"cached_response":${toJsonb(entry.value)}}`;
}

async function countHits(db: Db, hits: readonly SemanticHitCount[], nowMs: number): Promise<void> {
  await db.execute(sql`
    update semantic_cache c set hit_count = c.hit_count + r.hits, last_hit_at = ${instant(nowMs)}
    from (
      select "projectId" as project_id, "cacheKey" as cache_key, count(*) as hits
      from jsonb_to_recordset(${JSON.stringify(hits)}::jsonb) as h("projectId" uuid, "cacheKey" text) group by 1, 2
    ) r
    where c.project_id = r.project_id and c.cache_key = r.cache_key`);
}
