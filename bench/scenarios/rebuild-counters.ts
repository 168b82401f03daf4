import { openRedis } from '@llm0/core/limits/redis/connection';
import { callAdmin } from '@llm0/testing/stores/start-gateway';
import { askChat } from '../load/ask-chat';
import type { BenchStores, StartedGateway } from '../start-bench';

const TIMEOUT_MS = 600_000;

/**
 * Empties Redis, so that the gateway mirrors limits and sums counters anew from what was put straight into Postgres. Resolves
 * once it serves again.
 */
export async function rebuildCounters(gateway: StartedGateway, { redisUrl }: BenchStores): Promise<number> {
  const redis = openRedis(redisUrl);
  try {
    await redis.flushall();
  } finally {
    redis.disconnect();
  }
  const startMs = performance.now();
  while (performance.now() - startMs < TIMEOUT_MS) {
    const { status } = await askChat(gateway.url, gateway.open.apiKey, 'Are you back?');
    if (status === 200) return performance.now() - startMs;
    await Bun.sleep(100);
  }
  throw new Error(`counters were not rebuilt: ${JSON.stringify(await callAdmin(gateway, '/reconcile'))}`);
}
