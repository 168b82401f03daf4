// Postgres unreachable: every call throws; the warm cache above turns that into misses and waiting writes.
import type { WarmEntry, WarmHitCount, WarmHitEntry, WarmStore } from '@llm0/core/cache/warm-cache';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { rejectingBadData } from '../../sql-state';
import { toArrayText } from '../array-text';
import { executePrepared } from '../execute-prepared';
import { fromJsonb, toJsonb } from '../jsonb-text';

/** The warm tier of the exact cache in `exact_cache`. */
export function createWarmStore(db: Db): WarmStore {
  return {
    write: (entries) => writeCachedAnswers(db, entries),
    find: (projectId, cacheKey, nowMs) => findCachedAnswer(db, { projectId, cacheKey, nowMs }),
    countHits: (hits, nowMs) => countCacheHits(db, hits, nowMs),
  };
}

/** One statement for all; of entries with the same key the last one counts, and an older one never replaces a newer. */
export async function writeCachedAnswers(db: Db, entries: readonly WarmEntry[]): Promise<void> {
  const all = [...new Map(entries.map((entry) => [`${entry.projectId} ${entry.cacheKey}`, entry])).values()];
  const column = (field: (entry: WarmEntry) => string | number) => toArrayText(all.map(field));
  await rejectingBadData(() =>
    executePrepared(
      db,
      sql`
      insert into exact_cache (project_id, cache_key, provider, model, prompt_tokens, completion_tokens, cached_response,
        created_at, expires_at)
      select r.project_id, r.cache_key, r.provider, r.model, r.prompt_tokens, r.completion_tokens, r.cached_response,
        to_timestamp(r.created_at_ms / 1000.0), to_timestamp(r.expires_at_ms / 1000.0)
      from unnest(${column(({ projectId }) => projectId)}::uuid[], ${column(({ cacheKey }) => cacheKey)}::text[],
        ${column(({ provider }) => provider)}::text[], ${column(({ model }) => model)}::text[],
        ${column(({ promptTokens }) => promptTokens)}::bigint[],
        ${column(({ completionTokens }) => completionTokens)}::bigint[],
        ${column(({ value }) => toJsonb(value))}::jsonb[],
        ${column(({ createdAtMs }) => Math.floor(createdAtMs))}::bigint[],
        ${column(({ expiresAtMs }) => Math.floor(expiresAtMs))}::bigint[])
        as r(project_id, cache_key, provider, model, prompt_tokens, completion_tokens, cached_response, created_at_ms,
          expires_at_ms)
      on conflict (project_id, cache_key) do update set provider = excluded.provider, model = excluded.model,
        prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
        cached_response = excluded.cached_response, created_at = excluded.created_at, expires_at = excluded.expires_at
      where exact_cache.created_at <= excluded.created_at`,
    ),
  );
}

interface FoundRow extends Record<string, unknown> {
  value: string;
  provider: string;
  model: string;
  expires_at_ms: number;
}

/** null when there is none that is good at `nowMs`. */
export async function findCachedAnswer(
  db: Db,
  at: { readonly projectId: string; readonly cacheKey: string; readonly nowMs: number },
): Promise<WarmHitEntry | null> {
  const [row] = await executePrepared<FoundRow>(
    db,
    sql`
    select cached_response::text as value, provider, model, (extract(epoch from expires_at) * 1000)::float8 as expires_at_ms
    from exact_cache
    where project_id = ${at.projectId}::uuid and cache_key = ${at.cacheKey}
      and expires_at > to_timestamp(${Math.floor(at.nowMs)}::bigint / 1000.0)`,
  );
  if (row === undefined) return null;
  const { value, provider, model, expires_at_ms: expiresAtMs } = row;
  return { value: fromJsonb(value), provider, model, expiresAtMs };
}

export async function countCacheHits(db: Db, hits: readonly WarmHitCount[], nowMs: number): Promise<void> {
  await executePrepared(
    db,
    sql`
    update exact_cache c set hit_count = c.hit_count + r.hits,
      last_hit_at = to_timestamp(${Math.floor(nowMs)}::bigint / 1000.0)
    from jsonb_to_recordset(${JSON.stringify(hits)}::jsonb) as r("projectId" uuid, "cacheKey" text, hits bigint)
    where c.project_id = r."projectId" and c.cache_key = r."cacheKey"`,
  );
}
