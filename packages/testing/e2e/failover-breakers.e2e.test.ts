import { describe, expect, test } from 'bun:test';
import { hostGateway } from '../stores/host-gateway';
import { createTestKey } from '../stores/start-gateway';
import { undisturbedMs } from '../thread-time';
import { ask, logRow, postChat, shareEnvironment, startEnvironment } from './environment';
import { FIRST, IMPATIENT, openCaller, type Row, SECOND, textOf } from './failover.fixture';

const SETUP_MS = 60_000;

describe('failover where servers are gone, or there are two gateways', () => {
  test.concurrent(
    'a vendor that refuses connections: the next one answers at once',
    async () => {
      const env = { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' };
      const world = await shareEnvironment({ kind: 'real', env });
      try {
        const { apiKey } = await createTestKey(world.gateway);
        world.upstream.control.setModel(SECOND, { text: 'here' });
        for (const stream of [false, true]) {
          const startMs = undisturbedMs(world.gateway.pid);
          const answer = await postChat(world.gateway, apiKey, ask(`anybody? ${stream}`, { stream }));
          expect(await textOf(answer, stream)).toBe('here');
          expect(undisturbedMs(world.gateway.pid) - startMs).toBeLessThan(2000);
          const row = (await logRow(world.gateway, answer.headers.get('x-request-id') ?? '')) as unknown as Row;
          expect(row.attempts.map(({ outcome }) => outcome)).toEqual(['connection', 'connection', 'ok']);
        }
      } finally {
        await world.close();
      }
    },
    SETUP_MS,
  );

  test.concurrent(
    'two gateways on one Redis: what one learns of a target the other knows within a second',
    async () => {
      const world = await shareEnvironment({ kind: 'real' });
      const other = await hostGateway({ env: world.env });
      try {
        const { apiKey } = await createTestKey(world.gateway);
        world.upstream.control.setModel(FIRST, { status: 500 });
        world.upstream.control.setModel(SECOND, { status: 429, retryAfter: '60' });
        for (let i = 0; i < 3; i++) await (await postChat(world.gateway, apiKey, ask(`down ${i}`))).text();
        await Bun.sleep(1000);
        const asked = world.upstream.requests.length;
        const answer = await postChat(other, apiKey, ask('and here?'));
        expect(answer.headers.get('x-provider')).toBe('gemini');
        expect(world.upstream.requests).toHaveLength(asked + 1);
        const row = (await logRow(other, answer.headers.get('x-request-id') ?? '')) as unknown as Row;
        expect(row.attempts.map(({ outcome }) => outcome)).toEqual(['breaker_open', 'cooling_down', 'ok']);
      } finally {
        await other.kill();
        await world.close();
      }
    },
    SETUP_MS,
  );

  test.concurrent(
    'a breaker opens, is shown, is passed over, and closes by itself after a probe',
    async () => {
      const env = { ...IMPATIENT, LLM0_TEST_BREAKER_MS: '2000' };
      const world = await startEnvironment({ kind: 'real', apart: false, env });
      try {
        const { newFirst, post, rowOf } = await openCaller(world);
        const first = await newFirst();
        world.upstream.control.setModel(first, { status: 500 });
        for (let i = 0; i < 3; i++) await (await post(`open ${i}`, first)).text();
        const health = (await (await fetch(`${world.gateway.url}/healthz`)).json()) as {
          targets: { model: string; breaker: string }[];
        };
        expect(health.targets.find(({ model }) => model === first)?.breaker).toBe('open');
        const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
        expect(metrics).toContain(`llm0_breaker_state{provider="openai",model="${first}"} 2`);
        const asked = () => world.upstream.requests.filter(({ body }) => body.model === first).length;
        const before = asked();
        const passed = await post('passed over', first);
        expect(passed.headers.get('x-failover')).toBe('true');
        expect((await rowOf(passed)).attempts.map(({ outcome }) => outcome)).toEqual(['breaker_open', 'ok']);
        expect(asked()).toBe(before);
        world.upstream.control.setModel(first, { text: 'back' });
        const endMs = performance.now() + 12_000;
        for (;;) {
          const answer = await post(`probe ${performance.now()}`, first);
          if (answer.headers.get('x-provider') === 'openai') break;
          expect(performance.now()).toBeLessThan(endMs);
          await Bun.sleep(50);
        }
        expect(await (await fetch(`${world.gateway.url}/metrics`)).text()).toContain(
          `llm0_breaker_state{provider="openai",model="${first}"} 0`,
        );
      } finally {
        await world.close();
      }
    },
    SETUP_MS,
  );
});
