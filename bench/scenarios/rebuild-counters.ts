import { callAdmin } from '@llm0/testing/stores/start-gateway';
import { Redis } from 'ioredis';
import type { BenchStores, StartedGateway } from '../start-bench';

const TIMEOUT_MS = 600_000;

/**
 * Empties Redis, so that the gateway mirrors limits and sums counters anew from what was put straight into Postgres. Resolves
 * once it serves again.
 */
export async function rebuildCounters(gateway: StartedGateway, { redisUrl }: BenchStores): Promise<number> {
  const redis = new Redis(redisUrl);
  try {
    await redis.flushall();
  } finally {
    redis.disconnect();
  }
  const startMs = performance.now();
  const ask = () =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.open.apiKey}` },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Are you back?' }] }),
    });
  while (performance.now() - startMs < TIMEOUT_MS) {
    const answer = await ask();
    await answer.text();
    if (answer.status === 200) return performance.now() - startMs;
    await Bun.sleep(100);
  }
  throw new Error(`counters were not rebuilt: ${JSON.stringify(await callAdmin(gateway, '/reconcile'))}`);
}
