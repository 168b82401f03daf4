import { openRedis } from '@llm0/core/limits/redis/connection';
import { createTestKey, startGateway } from '@llm0/testing/stores/start-gateway';
import { median } from '../report/rows';
import { type BenchWorld, startScript } from '../start-bench';
import { measureInTurn } from './run-scenario';
import { SCENARIOS } from './scenarios';
import { needRealStores, type SpecialOutcome } from './special';

const ONE_WAY_MS = 1;
const PINGS = 200;
/** Far from what the machine can do: what is measured is a request's own time. */
const RATE = 50;

/** Misses of a gateway whose Redis is 2 ms away: what it adds, over the one round trip that a decision takes. */
export async function measureFarRedis(world: BenchWorld): Promise<SpecialOutcome> {
  const { gateway, stores } = needRealStores(world, 'far-redis');
  const redis = new URL(stores.redisUrl);
  const env = { UPSTREAM_PORT: redis.port, DELAY_MS: String(ONE_WAY_MS) };
  const relay = await startScript('delaying-relay.ts', [], env);
  redis.port = new URL(relay.url).port;
  try {
    const far = await startGateway({ env: { ...gateway.env, REDIS_URL: redis.href } });
    try {
      return await measure(world, { far, redisUrl: redis.href });
    } finally {
      await far.stop();
    }
  } finally {
    relay.child.kill();
  }
}

interface Far {
  readonly far: Awaited<ReturnType<typeof startGateway>>;
  readonly redisUrl: string;
}

async function measure(world: BenchWorld, { far, redisUrl }: Far): Promise<SpecialOutcome> {
  const { apiKey } = await createTestKey(far);
  const scenario = SCENARIOS.find(({ name }) => name === 'miss');
  const near = world.targets.find(({ kind }) => kind === 'gateway');
  if (scenario === undefined || near === undefined) throw new Error('no gateway to measure');
  const target = {
    ...near,
    name: 'gateway, far Redis',
    url: far.url,
    pid: far.pid,
    keys: { ...near.keys, open: apiKey },
  };
  const steps = [{ label: String(RATE), rate: RATE }];
  const shown = { ...scenario, name: 'far-redis', steps };
  const rows = await measureInTurn(world, [{ scenario: shown, target, connections: 10 }]);
  const roundTripMs = await pingMs(redisUrl);
  const overheadMs = rows[0]?.server?.overhead.p50;
  const over = overheadMs == null ? 'unknown' : `${(overheadMs - roundTripMs).toFixed(2)} ms`;
  return {
    rows,
    notes: [
      `far-redis: a round trip takes ${roundTripMs.toFixed(2)} ms; overhead p50 over it: ${over} (must be ≤ 0.6 ms, aim 0.4 ms)`,
    ],
  };
}

async function pingMs(url: string): Promise<number> {
  const redis = openRedis(url);
  try {
    const took: number[] = [];
    for (let i = 0; i < PINGS; i++) {
      const startMs = performance.now();
      await redis.ping();
      took.push(performance.now() - startMs);
    }
    return median(took);
  } finally {
    redis.disconnect();
  }
}
