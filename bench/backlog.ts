// `bun run bench backlog`: what a long queue of log rows, being drained, does to the latency of exact hits.
import { createShardKeys, shardOf } from '@llm0/core/admission/redis-keys';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { callAdmin, type GatewayProcess } from '@llm0/gateway/testing/start-gateway';
import { Redis } from 'ioredis';
import type { LoadJob } from './load';
import { load } from './start-bench';

export const BACKLOG_HELP =
  '  backlog  p99 of hits while --rows (1000000) queued log rows are drained, against p99 without them';

const TRIALS = 3;
const BATCH = 2000;
/** Rows are spread over this many minutes and models, as those of a busy hour would be. */
const MINUTES = 30;
const MODELS = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-6', 'gemini-2.5-flash'];

export interface BacklogInput {
  readonly gateway: GatewayProcess;
  readonly redisUrl: string;
  readonly projectId: string;
  readonly keyId: string;
  readonly job: LoadJob;
  readonly rows: number;
}

/** Prints p50 and p99 of hits with an empty queue, and again while a backlog is drained. */
export async function measureBacklog(input: BacklogInput): Promise<void> {
  await load({ ...input.job, seconds: 5 });
  const without: number[] = [];
  const during: number[] = [];
  for (let trial = 0; trial < TRIALS; trial++) {
    const quiet = await load(input.job);
    await queueRows(input, Math.ceil(input.rows / TRIALS));
    const before = await depthOf(input.gateway);
    const busy = await load(input.job);
    const after = await depthOf(input.gateway);
    without.push(quiet.latencyMs?.p99 ?? Number.NaN);
    during.push(busy.latencyMs?.p99 ?? Number.NaN);
    console.log(
      `trial ${trial + 1}: p50 ${show(quiet.latencyMs?.p50)} → ${show(busy.latencyMs?.p50)} ms, p99 ${show(quiet.latencyMs?.p99)} → ` +
        `${show(busy.latencyMs?.p99)} ms; queue ${before} → ${after} rows; ${Math.round(busy.requestsPerSecond)} req/s, ${busy.errors} errors`,
    );
    await drained(input.gateway);
  }
  console.log(`p99 of hits while rows are drained: ${(median(during) / median(without)).toFixed(2)}× of that without`);
}

async function queueRows({ redisUrl, projectId, keyId }: BacklogInput, rows: number): Promise<void> {
  const redis = new Redis(redisUrl);
  try {
    const shards = createShardKeys('llm0', 1);
    const log = shards[shardOf(projectId, 1)]?.log ?? '';
    for (let done = 0; done < rows; done += BATCH) {
      const pipeline = redis.pipeline();
      for (let i = 0; i < Math.min(BATCH, rows - done); i++) {
        const record = makeRecord(projectId, keyId, done + i);
        pipeline.xadd(log, '*', 'i', record.id, 'r', JSON.stringify(record));
      }
      await pipeline.exec();
    }
  } finally {
    redis.disconnect();
  }
}

function makeRecord(projectId: string, keyId: string, index: number): LogRecord {
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

const depthOf = async (gateway: GatewayProcess): Promise<number> =>
  (await callAdmin<{ queue_depth: number }>(gateway, '/reconcile')).queue_depth;

async function drained(gateway: GatewayProcess): Promise<void> {
  while ((await depthOf(gateway)) > 0) await Bun.sleep(500);
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const show = (ms: number | undefined): string => (ms ?? Number.NaN).toFixed(2);
