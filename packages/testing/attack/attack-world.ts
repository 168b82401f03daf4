import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ChaosPostgres } from '../chaos/chaos-postgres';
import { ChaosRedis } from '../chaos/chaos-redis';
import { removeFolder, temporaryFolder } from '../stores/server-process';
import { type GatewayProcess, startGateway } from '../stores/start-gateway';
import { startTestStores } from '../stores/start-test-stores';
import { PROFILES, type Profile } from './attack';
import type { AttackOptions } from './attack-options';
import { HONEST, type HostileUpstream, startHostileUpstream } from './hostile-upstream';
import { createSender } from './send';
import { type GatewayWatch, watchGateway } from './watch-gateway';

/** A gateway as it stands before an attack. */
export interface AttackedGateway {
  readonly process: GatewayProcess;
  readonly watch: GatewayWatch;
  /** Resident after its first requests. */
  readonly calmBytes: number;
  readonly profile: Profile;
  hasEnded: boolean;
}

export interface AttackWorld {
  readonly upstream: HostileUpstream;
  /** The gateway of this profile: the one that runs, or a fresh one on the same stores. */
  gateway(profile: Profile, isFresh?: boolean): Promise<AttackedGateway>;
  close(): Promise<void>;
}

/** Attempts at a vendor and pauses of streams end soon, so that a run does. */
const TIMEOUT = '2s';
/** A hold that nobody renews is booked after this. */
const LEASE_MS = 3_000;
const CALM_MS = 300;

/** What still runs, for an end before its time. */
const open = new Set<() => Promise<void>>();

/** Ends all servers and gateways of this process and removes their folders. */
export async function closeAttackWorlds(): Promise<void> {
  await Promise.all([...open].map((close) => close()));
}

export async function startAttackWorld({ stores }: Pick<AttackOptions, 'stores'>): Promise<AttackWorld> {
  const stops: (() => unknown)[] = [];
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
    open.delete(close);
  };
  open.add(close);
  try {
    const folder = temporaryFolder('attack');
    stops.push(() => removeFolder(folder));
    if (stores === 'embedded') await findTemplate();
    const upstream = await startHostileUpstream();
    stops.push(() => upstream.stop());
    const env = { ...vendors(upstream.url), ...(stores === 'real' ? await startStores(stops) : {}) };
    let running: AttackedGateway | undefined;
    const end = async () => {
      await running?.watch.stop();
      await running?.process.kill();
    };
    stops.push(end);
    const gateway = async (profile: Profile, isFresh = false) => {
      if (running?.profile === profile && !isFresh && !running.hasEnded) return running;
      await end();
      const dataDir = join(folder, 'gateway');
      rmSync(dataDir, { recursive: true, force: true });
      running = await startOne({ dataDir, env, profile, upstream });
      return running;
    };
    return { upstream, gateway, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface OneGateway {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly profile: Profile;
  readonly upstream: HostileUpstream;
}

async function startOne({ dataDir, env, profile, upstream }: OneGateway): Promise<AttackedGateway> {
  const started = await startGateway({ dataDir, env: { ...env, ...PROFILES[profile] } });
  await warmUp(started, upstream);
  const watch = await watchGateway(started);
  await Bun.sleep(CALM_MS);
  const { nowBytes } = await watch.mark();
  const gateway: AttackedGateway = { process: started, watch, profile, calmBytes: nowBytes, hasEnded: false };
  void started.exited.then(() => {
    gateway.hasEnded = true;
  });
  return gateway;
}

/** What a gateway loads with its first requests is no attacker's doing. */
async function warmUp(gateway: GatewayProcess, upstream: HostileUpstream): Promise<void> {
  upstream.expect(HONEST);
  const send = createSender(gateway, gateway.apiKey ?? '');
  const messages = [{ role: 'user', content: 'Hello' }];
  for (const stream of [false, true]) {
    await send('/v1/chat/completions', { body: { model: 'gpt-4o-mini', messages, stream } });
    await send('/v1/messages', { body: { model: 'claude-haiku-4-5', messages, stream, max_tokens: 50 } });
    await send('/v1/responses', { body: { model: 'gpt-4o-mini', input: 'Hello', stream } });
  }
  for (const path of ['/v1/models', '/metrics', '/admin/v1/projects']) {
    await send(path, { headers: path.startsWith('/admin') ? { authorization: `Bearer ${gateway.adminToken}` } : {} });
  }
}

function vendors(url: string): Readonly<Record<string, string>> {
  const clouds = ['GROQ', 'OPENROUTER', 'DEEPSEEK'].map((name) => ({
    [`${name}_API_KEY`]: 'hostile-vendor-key',
    [`${name}_BASE_URL`]: `${url}/${name.toLowerCase()}/v1`,
  }));
  return Object.assign(
    {
      ...{ OPENAI_API_KEY: 'sk-hostile-vendor-key', OPENAI_BASE_URL: `${url}/v1` },
      ...{ ANTHROPIC_API_KEY: 'sk-ant-hostile-vendor-key', ANTHROPIC_BASE_URL: url },
      ...{ GEMINI_API_KEY: 'AIza-hostile-vendor-key', GEMINI_BASE_URL: url },
      ...{ OLLAMA_BASE_URL: `${url}/ollama` },
      ...{
        REQUEST_TIMEOUT: TIMEOUT,
        ANSWER_TIMEOUT: TIMEOUT,
        STREAM_IDLE_TIMEOUT: TIMEOUT,
        LLM0_TEST_LEASE_MS: String(LEASE_MS),
      },
    },
    ...clouds,
  );
}

/** Gateways start again and again: the database is migrated once. */
async function findTemplate(): Promise<void> {
  const { stores } = await startTestStores(['template']);
  process.env.TEST_EMBEDDED_TEMPLATE ||= stores[0]?.env.TEST_EMBEDDED_TEMPLATE;
}

async function startStores(stops: (() => unknown)[]): Promise<Record<string, string>> {
  const redis = await ChaosRedis.start();
  stops.push(() => redis.dispose());
  const postgres = await ChaosPostgres.start();
  stops.push(() => postgres.dispose());
  return { REDIS_URL: redis.url, DATABASE_URL: postgres.url };
}
