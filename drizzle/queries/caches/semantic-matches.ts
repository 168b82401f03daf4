import type { MatchOutcome, SemanticMatch } from '@llm0/core/cache/semantic/semantic-store';
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { semanticMatches } from '../../schema/caches';
import { rejectingBadData } from '../../sql-state';
import { countGone, hasSemanticCache } from '../count-gone';
import type { ProjectScope } from '../of-projects';
import type { Page, PageRequest } from '../page';
import { Rows, type Stored } from '../rows';

/** One statement for all. Throws `RecordsRejectedError` for texts Postgres can't hold. */
export async function writeSemanticMatches(db: Db, matches: readonly SemanticMatch[]): Promise<void> {
  await rejectingBadData(() => db.insert(semanticMatches).values([...matches]));
}

export const matchRows = new Rows(semanticMatches);
export type StoredSemanticMatch = Stored<typeof matchRows>;

export interface MatchFilter extends PageRequest {
  readonly projectId?: ProjectScope;
  readonly outcomes: readonly MatchOutcome[];
  readonly guard?: string;
}

/** Newest first. */
export async function listSemanticMatches(db: Db, filter: MatchFilter): Promise<Page<StoredSemanticMatch>> {
  const { projectId, guard, outcomes } = filter;
  return matchRows.list(db, filter, { projectId, guard }, inArray(semanticMatches.outcome, [...outcomes]));
}

/** The two questions are never matched again, in either direction. */
export async function rememberRejection(db: Db, match: SemanticMatch): Promise<void> {
  await db.execute(sql`
    insert into semantic_rejections (project_id, request_id, cache_key, matched_key, question_hash, matched_hash, prompt,
      matched_prompt, similarity, guard)
    values (${match.projectId}::uuid, ${match.requestId}::uuid, ${match.cacheKey}, ${match.matchedKey},
      ${match.questionHash}, ${match.matchedHash}, ${match.prompt}, ${match.matchedPrompt}, ${match.similarity}, 'rejected')
    on conflict (project_id, question_hash, matched_hash) do nothing`);
}

export interface EvictedAnswers {
  /** Entries of the semantic cache. */
  readonly semantic: number;
  /** Entries of the warm tier. */
  readonly warm: number;
  /** Keys of exact entries that may hold the answer: the entry's own, and those of wordings it served. */
  readonly keys: readonly string[];
}

/** Takes an entry out of the semantic cache and the warm tier, for its own question and all it was served to. */
export async function evictSemanticEntry(db: Db, projectId: string, cacheKey: string): Promise<EvictedAnswers> {
  const served = await db
    .selectDistinct({ key: semanticMatches.cacheKey })
    .from(semanticMatches)
    .where(
      and(
        eq(semanticMatches.projectId, projectId),
        eq(semanticMatches.matchedKey, cacheKey),
        eq(semanticMatches.outcome, 'served'),
      ),
    );
  const keys = [...new Set([cacheKey, ...served.map(({ key }) => key)])];
  const theirs = sql`project_id = ${projectId}::uuid
    and cache_key in (select jsonb_array_elements_text(${JSON.stringify(keys)}::jsonb))`;
  const isThere = await hasSemanticCache(db);
  const semantic = isThere ? await countGone(db, sql`delete from semantic_cache where ${theirs}`) : 0;
  return { semantic, warm: await countGone(db, sql`delete from exact_cache where ${theirs}`), keys };
}

export interface SemanticCounts {
  /** Stored rows by outcome; `refused` also by guard. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly guards: Readonly<Record<string, number>>;
}

/** Counts stored semantic look-ups by outcome and guard. */
export async function countSemanticMatches(db: Db, projectId?: string): Promise<SemanticCounts> {
  const rows = await db
    .select({ outcome: semanticMatches.outcome, guard: semanticMatches.guard, n: sql<number>`count(*)::int` })
    .from(semanticMatches)
    .where(projectId === undefined ? undefined : eq(semanticMatches.projectId, projectId))
    .groupBy(semanticMatches.outcome, semanticMatches.guard);
  const outcomes: Record<string, number> = { served: 0, shadow: 0, refused: 0, below: 0 };
  const guards: Record<string, number> = {};
  for (const { outcome, guard, n } of rows) {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + n;
    if (guard !== null) guards[guard] = (guards[guard] ?? 0) + n;
  }
  return { outcomes, guards };
}
