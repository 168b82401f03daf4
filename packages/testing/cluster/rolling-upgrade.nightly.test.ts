import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { findHelm } from '../chart/install-helm';
import { type Manifest, renderChart, SECRETS } from '../chart/render-chart';
import { allLogs, ask, postChat, settledLedger } from '../e2e/environment';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream';
import { createDatabase, type TestDatabase } from '../stores/create-database';
import type { TestServer } from '../stores/server-process';
import { createTestKey, type GatewayProcess, TEST_ADMIN_TOKEN } from '../stores/start-gateway';
import { startRedis } from '../stores/start-redis';
import type { Secrets } from './local-pods';
import { HookFailed, LocalRollout } from './local-rollout';

const SERVER = process.env.TEST_DATABASE_URL ?? '';
/** Fetching Helm takes a while, once. */
const SETUP_MS = 900_000;
const CLIENTS = 6;
const MAX_REQUESTS = 3000;

/** What a client holds in the end. */
interface Answer {
  readonly requestId: string | null;
  readonly status: number;
  readonly isWhole: boolean;
}

describe('an upgrade by the chart, under load', () => {
  let redis: TestServer;
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let rollout: LocalRollout;
  let secrets: Secrets;
  let release: readonly Manifest[];
  beforeAll(async () => {
    await findHelm();
    redis = await startRedis();
    // Empty: who does not wait for the Job finds no table.
    database = await createDatabase(SERVER);
    upstream = startFakeUpstream({ record: false });
    upstream.control.setDefault({ chunks: 12, gapMs: 60 });
    secrets = {
      llm0: {
        ...{ admin_token: TEST_ADMIN_TOKEN, encryption_key: '0123456789abcdef'.repeat(4) },
        ...{ database_url: database.url, redis_url: redis.url, openai_api_key: 'sk-fake-upstream-key' },
      },
    };
    release = await render({});
    rollout = new LocalRollout(secrets);
  }, SETUP_MS);
  afterAll(async () => {
    await rollout.close();
    await upstream.stop();
    await redis.stop();
    await database.drop();
  });

  const render = (more: Record<string, unknown>) =>
    renderChart({
      secrets: SECRETS,
      autoscaling: { enabled: false },
      replicaCount: 2,
      logLevel: 'warn',
      drain: { preStopSeconds: 1, timeoutSeconds: 10, handOverSeconds: 10 },
      // The machine may be busy, and what is asked here is whether anything is lost.
      environment: 'test',
      env: {
        ...{ OPENAI_BASE_URL: upstream.baseUrl, LOG_BODIES_TTL_DAYS: 7 },
        ...{ LLM0_TEST_ADMIT_DEADLINE_MS: 5000, LLM0_TEST_LOOK_UP_DEADLINE_MS: 5000 },
      },
      ...more,
    });
  /** Operators are served on a port of their own. */
  const operator = (): GatewayProcess => ({ url: rollout.adminUrl(), adminToken: TEST_ADMIN_TOKEN }) as GatewayProcess;

  /** Clients that ask one thing after another, half of them for streams, until they are told to stop. */
  function startLoad(apiKey: string) {
    const answers: Answer[] = [];
    const failures: string[] = [];
    let isOver = false;
    const client = async (number: number) => {
      for (let turn = 0; !isOver && answers.length < MAX_REQUESTS; turn++) {
        const stream = number % 2 === 0;
        try {
          const response = await postChat(
            { url: rollout.endpoint() },
            apiKey,
            ask(`${number} asks ${turn}`, { stream }),
          );
          const text = await response.text();
          const isWhole = stream ? text.trimEnd().endsWith('data: [DONE]') : text.includes('"usage"');
          answers.push({ requestId: response.headers.get('x-request-id'), status: response.status, isWhole });
        } catch (error) {
          failures.push(String(error));
        }
        await Bun.sleep(5);
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
    const stop = async () => {
      isOver = true;
      await clients;
      return { answers, failures };
    };
    return { answers, stop };
  }

  test('no request fails, pods end by themselves, and the ledger is even', async () => {
    const installed = await rollout.apply(release);
    expect(installed.migrated).toMatch(/\d+ migrations applied/);
    const { apiKey, projectId } = await createTestKey(operator(), { project: { cache_enabled: false } });

    const load = startLoad(apiKey);
    await Bun.sleep(1000);
    const before = rollout.pids;

    // A migration that fails: the old pods go on, and nothing was replaced.
    const broken = { llm0: { ...secrets.llm0, database_url: database.url.replace(/\/[^/]*$/, '/gone') } };
    const refusal = await rollout
      .apply(await render({ podAnnotations: { version: '2' } }), broken)
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(HookFailed);
    expect(String(refusal)).toContain('DATABASE_URL=');
    expect(rollout.pids).toEqual(before);

    const upgraded = await rollout.apply(await render({ podAnnotations: { version: '3' } }));
    expect(upgraded.migrated).toContain('up to date');
    expect(rollout.pids.filter((pid) => before.includes(pid))).toEqual([]);
    await Bun.sleep(500);
    const { answers, failures } = await load.stop();

    // Within the grace period of the manifest, and none of them by force.
    expect(upgraded.ended.map(({ code, wasKilled }) => ({ code, wasKilled }))).toEqual([
      { code: 0, wasKilled: false },
      { code: 0, wasKilled: false },
    ]);
    expect(failures).toEqual([]);
    expect(answers.filter(({ status, isWhole }) => status !== 200 || !isWhole)).toEqual([]);
    expect(answers.length).toBeGreaterThan(50);

    const ledger = await settledLedger(operator());
    expect(ledger).toMatchObject({ ok: true, queue_depth: 0, open_holds: 0 });
    const rows = await allLogs(operator(), `project_id=${projectId}`);
    const ids = rows.map(({ request_id }) => request_id).sort();
    expect(ids).toEqual(answers.map(({ requestId }) => String(requestId)).sort());
    expect(rows.every(({ status, cost_estimated }) => status === 'success' && !cost_estimated)).toBe(true);
  }, 120_000);

  test('the Job and the pods made the same tables', async () => {
    const sql = postgres(database.url, { max: 1 });
    try {
      const [found] = await sql<{ count: string }[]>`select count(*) from llm0_migrations`;
      expect(Number(found?.count)).toBeGreaterThan(30);
    } finally {
      await sql.end();
    }
  });
});
