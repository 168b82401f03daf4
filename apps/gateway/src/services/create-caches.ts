import { CACHED_ANSWER_CODEC } from '@llm0/core/cache/cached-answer';
import { CACHED_EMBEDDINGS_CODEC } from '@llm0/core/cache/cached-embedding';
import { CACHED_TASK_CODEC } from '@llm0/core/cache/cached-task';
import { IdempotencyKeys } from '@llm0/core/cache/idempotency/idempotency-keys';
import { StoredWarmCache } from '@llm0/core/cache/warm-cache';
import { StoredResponses } from '@llm0/core/conversations/stored-responses';
import { LocalEmbedder } from '@llm0/core/embedding/local-embedder';
import { SHIPPED_MODEL } from '@llm0/core/embedding/shipped-model';
import { type BodyLog, noBodyLog, StoredBodyLog } from '@llm0/core/logs/body-log';
import type { Database } from '@llm0/drizzle/client';
import { createWarmStore } from '@llm0/drizzle/queries/caches/exact-cache';
import { createIdempotencyStore } from '@llm0/drizzle/queries/caches/idempotency-keys';
import { createStoredResponseStore } from '@llm0/drizzle/queries/caches/stored-responses';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import type { Logger } from 'pino';
import type { Config } from '../config/config';
import type { Metrics } from '../observe/metrics';
import type { Services } from './contract';
import { createSemanticCache } from './create-semantic-cache';

export interface CacheParts {
  readonly config: Config;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly fetch: typeof globalThis.fetch;
  /** The hot store's clock. */
  readonly nowMs: () => number;
}

/** All content caches except the hot store. */
export type Caches = Pick<
  Services,
  | 'warmCache'
  | 'semanticCache'
  | 'builtInEmbedder'
  | 'storedResponses'
  | 'idempotency'
  | 'idempotentEmbeddings'
  | 'idempotentTasks'
  | 'bodyLog'
>;

/** Time for the last cache entries and bodies at the stop. */
const FLUSH_TIMEOUT_MS = 2000;
const DAY_MS = 86_400_000;

export async function createCaches(parts: CacheParts): Promise<{ readonly caches: Caches; close(): Promise<void> }> {
  const { config, database, metrics, log, nowMs } = parts;
  const { db } = database;
  const builtInEmbedder = new LocalEmbedder({
    ...SHIPPED_MODEL,
    onBroken: (reason) => log.warn({ reason }, 'the built-in embedder broke'),
  });
  const semantic = await createSemanticCache({ ...parts, shipped: builtInEmbedder });
  const claims = { store: createIdempotencyStore(db), leaseMs: config.testing.leaseMs };
  const caches = {
    warmCache: new StoredWarmCache({
      ...{ store: createWarmStore(db), nowMs, deadlineMs: config.testing.lookUpDeadlineMs },
      onLookUp: (outcome, ms) => metrics.observeWarmLookUp(outcome, ms),
      onDrop: (entries) => metrics.warmDrops.inc(entries),
    }),
    semanticCache: semantic.cache,
    builtInEmbedder,
    storedResponses: new StoredResponses({
      ...{ store: createStoredResponseStore(db), nowMs },
      retentionMs: config.responsesRetentionDays * DAY_MS,
      maxBytes: config.maxBodyBytes,
      onDrop: (answers) => metrics.keptAnswerDrops.inc(answers),
    }),
    idempotency: new IdempotencyKeys({ ...claims, codec: CACHED_ANSWER_CODEC }),
    idempotentEmbeddings: new IdempotencyKeys({ ...claims, codec: CACHED_EMBEDDINGS_CODEC }),
    idempotentTasks: new IdempotencyKeys({ ...claims, codec: CACHED_TASK_CODEC }),
    bodyLog: createBodyLog(parts),
  };
  const close = async () => {
    caches.idempotency.stop();
    caches.idempotentEmbeddings.stop();
    caches.idempotentTasks.stop();
    for (const writer of [caches.warmCache, caches.semanticCache, caches.bodyLog, caches.storedResponses]) {
      await writer.flush(FLUSH_TIMEOUT_MS);
      writer.stop();
    }
    builtInEmbedder.stop();
    await semantic.close();
  };
  return { caches, close };
}

function createBodyLog({ config, database, metrics }: CacheParts): BodyLog {
  if (!config.logBodies) return noBodyLog;
  return new StoredBodyLog({
    write: (bodies) => writeLogBodies(database.db, bodies),
    onDrop: (bodies) => metrics.bodyDrops.inc(bodies),
  });
}
