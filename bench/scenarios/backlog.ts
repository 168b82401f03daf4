// What a long queue of log rows, being drained, does to the latency of exact hits.
import { monthIndex } from '@llm0/core/limits/periods';
import { openRedis } from '@llm0/core/limits/redis/connection';
import { apiKeyKey, createShardKeys, projectKey, shardOf } from '@llm0/core/limits/redis/keys';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { callAdmin } from '@llm0/testing/stores/start-gateway';
import type { LoadResult } from '../load/load-job';
import { type BenchWorld, type StartedGateway, waitForDrain } from '../start-bench';
import { measureBeside } from './measure-beside';
import { needRealStores, type SpecialOutcome } from './special';

const BATCH = 2000;
const DRAIN_TIMEOUT_MS = 600_000;
/** Rows are spread over this many minutes and models, as those of a busy hour would be. */
const MINUTES = 30;
const MODELS = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-6', 'gemini-2.5-flash'];

/** p50 and p99 of hits with an empty queue, and again while a backlog is drained. */
export async function measureBacklog(world: BenchWorld): Promise<SpecialOutcome> {
  const { gateway, stores } = needRealStores(world, 'backlog');
  const { backlogRows, trials } = world.options;
  const begin = async () => {
    await queueRows(stores.redisUrl, gateway.open, Math.ceil(backlogRows / trials));
    const before = await depthOf(gateway);
    return async (_: LoadResult, { requestsPerSecond, errors, errorKinds }: LoadResult) => {
      const queue = `queue ${before} → ${await depthOf(gateway)} rows`;
      await waitForDrain(gateway, DRAIN_TIMEOUT_MS);
      const kinds = errors === 0 ? '' : ` (${JSON.stringify(errorKinds)})`;
      return `; ${queue}; ${Math.round(requestsPerSecond)} req/s, ${errors} errors${kinds}`;
    };
  };
  const { notes, ratio } = await measureBeside(world, { name: 'backlog', gateway, seconds: 5, begin });
  const found = `backlog: p99 of hits while rows are drained is ${ratio} of that without (must be ≤ 1.3×)`;
  return { rows: [], notes: [...notes, found] };
}

/** Straight into the queue and onto the counters of spend, as settlements would; the ledger stays even. */
async function queueRows(redisUrl: string, { projectId, keyId }: StartedGateway['open'], rows: number): Promise<void> {
  const redis = openRedis(redisUrl);
  try {
    const keys = createShardKeys('llm0', 1)[shardOf(projectId, 1)];
    if (keys === undefined) throw new Error('no shard');
    for (let done = 0; done < rows; done += BATCH) {
      const pipeline = redis.pipeline();
      pipeline.sadd(keys.projects, projectId);
      for (let i = 0; i < Math.min(BATCH, rows - done); i++) {
        const record = makeBacklogRecord(projectId, keyId, done + i);
        const { costNanoUsd, createdAtMs } = record;
        const month = `s${monthIndex(createdAtMs)}`;
        pipeline.xadd(keys.log, '*', 'i', record.id, 'r', JSON.stringify(record));
        pipeline.hincrby(projectKey(keys, projectId), month, costNanoUsd);
        pipeline.hincrby(apiKeyKey(keys, keyId), month, costNanoUsd);
        pipeline.hincrby(apiKeyKey(keys, keyId), 's', costNanoUsd);
      }
      await pipeline.exec();
    }
  } finally {
    redis.disconnect();
  }
}

/** One of the rows of a backlog; `index` spreads them. */
export function makeBacklogRecord(projectId: string, keyId: string, index: number): LogRecord {
  const model = MODELS[index % MODELS.length] ?? '';
  const latencyMs = 300 + (index % 1000);
  return {
    id: Bun.randomUUIDv7(),
    createdAtMs: Date.now() - (index % MINUTES) * 60_000,
    projectId,
    apiKeyId: keyId,
    dialect: 'openai-chat',
    model,
    requestedModel: model,
    provider: 'openai',
    finalProvider: 'openai',
    tokensIn: 100 + (index % 900),
    tokensOut: 50 + (index % 400),
    tokensCacheRead: 0,
    tokensCacheWrite: 0,
    tokensReasoning: 0,
    costNanoUsd: 10_000 + index,
    savedNanoUsd: 0,
    costDetail: { input: 5000, output: 5000 + index },
    costEstimated: false,
    latencyMs,
    overheadMs: 1 + (index % 5),
    upstreamMs: latencyMs - 6,
    ttftMs: latencyMs / 2,
    stream: false,
    cacheHit: false,
    semanticCacheHit: false,
    failoverCount: 0,
    attempts: [{ provider: 'openai', model, outcome: 'ok', startMs: 1, latencyMs, status: 200 }],
    status: 'success',
    httpStatus: 200,
  };
}

const depthOf = async (gateway: StartedGateway): Promise<number> =>
  (await callAdmin<{ queue_depth: number }>(gateway, '/reconcile')).queue_depth;
