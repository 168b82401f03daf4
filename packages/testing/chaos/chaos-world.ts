import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream';
import { removeFolder, temporaryFolder } from '../stores/server-process';
import { Calendar } from './calendar';
import type { ChaosOptions } from './chaos-options';
import { ChaosPostgres } from './chaos-postgres';
import { ChaosRedis } from './chaos-redis';
import { Replica } from './replica';

/** Everything a run can break. */
export interface ChaosWorld {
  readonly upstream: FakeUpstream;
  /** Absent with embedded stores. */
  readonly redis: ChaosRedis | undefined;
  readonly postgres: ChaosPostgres | undefined;
  readonly calendar: Calendar;
  readonly replicas: readonly Replica[];
  close(): Promise<void>;
}

const UPSTREAM_TIMEOUT = '4s';
/** Everything that still runs, for an end before its time. */
const open = new Set<() => Promise<void>>();

/** Ends all servers and gateways of this process and removes their folders. */
export async function closeWorlds(): Promise<void> {
  await Promise.all([...open].map((close) => close()));
}

export interface WorldOptions extends Pick<ChaosOptions, 'stores' | 'replicas' | 'leaseMs'> {
  /** For the gateways, beside what every run sets. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startWorld(options: WorldOptions): Promise<ChaosWorld> {
  const stops: (() => unknown)[] = [];
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
    open.delete(close);
  };
  open.add(close);
  try {
    const folder = temporaryFolder('chaos');
    stops.push(() => removeFolder(folder));
    const upstream = startFakeUpstream({ record: false });
    stops.push(() => upstream.stop());
    const [redis, postgres] = options.stores === 'real' ? await startStores(stops) : [];
    const calendar = new Calendar(join(folder, 'clock-offset'));
    const env = {
      OPENAI_API_KEY: 'sk-fake-upstream-key',
      OPENAI_BASE_URL: upstream.baseUrl,
      REQUEST_TIMEOUT: UPSTREAM_TIMEOUT,
      ANSWER_TIMEOUT: UPSTREAM_TIMEOUT,
      STREAM_IDLE_TIMEOUT: UPSTREAM_TIMEOUT,
      DRAIN_TIMEOUT: '15s',
      // The calendar leaps over months, and no row may go.
      LOG_RETENTION_DAYS: '3650',
      LLM0_TEST_CLOCK_FILE: calendar.file,
      LLM0_TEST_LEASE_MS: String(options.leaseMs),
      ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      ...(postgres === undefined ? {} : { DATABASE_URL: postgres.url }),
      ...options.env,
    };
    const replicas = Array.from({ length: options.replicas }, (_, index) => {
      const dataDir = join(folder, `gateway-${index + 1}`);
      mkdirSync(dataDir, { mode: 0o700 });
      return new Replica(`gateway ${index + 1}`, { dataDir, env });
    });
    stops.push(() => Promise.all(replicas.map((replica) => replica.dispose())));
    await Promise.all(replicas.map((replica) => replica.start()));
    return { upstream, redis, postgres, calendar, replicas, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startStores(stops: (() => unknown)[]): Promise<[ChaosRedis, ChaosPostgres]> {
  const redis = await ChaosRedis.start();
  stops.push(() => redis.dispose());
  const postgres = await ChaosPostgres.start();
  stops.push(() => postgres.dispose());
  return [redis, postgres];
}
