// Conversations stay with the target whose prompt cache has their beginning, in one gateway and across two.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { logRow, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const TARGETS = [
  { provider: 'openai', model: 'gpt-4o-mini' },
  { provider: 'anthropic', model: 'claude-haiku-4-5' },
];

describe('session affinity', () => {
  let world: TestEnvironment;
  let second: GatewayProcess;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real' });
    second = await hostGateway({ env: world.env });
    ({ apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } }));
    const weighted = TARGETS.map((target) => ({ ...target, weight: 1 }));
    await callAdmin(world.gateway, '/aliases', { body: { alias: 'spread', strategy: 'weighted', targets: weighted } });
    await callAdmin(world.gateway, '/aliases', { body: { alias: 'first', strategy: 'priority', targets: TARGETS } });
  }, SETUP_MS);
  afterAll(async () => {
    await second?.kill();
    await world?.close();
  }, SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const turns = (text: string, more: number): JsonObject[] => [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: text },
    ...Array.from({ length: more }, (_, index): JsonObject[] => [
      { role: 'assistant', content: `answer ${index}` },
      { role: 'user', content: `question ${index}` },
    ]).flat(),
  ];

  async function ask(given: { model?: string; messages: JsonObject[]; session?: string; on?: GatewayProcess }) {
    const { model = 'spread', messages, session, on = world.gateway } = given;
    const headers: Record<string, string> = session === undefined ? {} : { 'x-llm0-session': session };
    const response = await postChat(on, apiKey, { model, messages }, { headers });
    expect([response.status, response.ok ? '' : await response.text()]).toEqual([200, '']);
    await response.text();
    return response;
  }
  const providerOf = (response: Response) => response.headers.get('x-provider') ?? '';

  test('each of many conversations stays with one target, and all of them are spread', async () => {
    const firsts: string[] = [];
    for (let i = 0; i < 16; i++) {
      const first = providerOf(await ask({ messages: turns(`conversation ${i}`, 0) }));
      firsts.push(first);
      for (let more = 1; more < 4; more++) {
        expect(providerOf(await ask({ messages: turns(`conversation ${i}`, more) }))).toBe(first);
      }
    }
    expect(new Set(firsts).size).toBe(2);
  });

  test('a session by name stays whatever is said in it, and is no label', async () => {
    const first = await ask({ messages: turns('one thing', 0), session: 'agent-7' });
    for (let i = 0; i < 8; i++) {
      const next = await ask({ messages: turns(`another thing ${i}`, 0), session: 'agent-7' });
      expect(providerOf(next)).toBe(providerOf(first));
    }
    const row = await logRow(world.gateway, first.headers.get('x-request-id') ?? '');
    expect(row.labels).toBeNull();
  });

  test('the other gateway on the same stores hears of it', async () => {
    const sessions = Array.from({ length: 8 }, (_, index) => `shared-${index}`);
    const firsts = new Map<string, string>();
    for (const session of sessions) firsts.set(session, providerOf(await ask({ messages: turns('x', 0), session })));
    await Bun.sleep(1200);
    for (const session of sessions) {
      const there = await ask({ messages: turns('y', 0), session, on: second });
      expect([session, providerOf(there)]).toEqual([session, firsts.get(session) ?? '']);
    }
  });

  test('after a failover a conversation stays where it went, and says so; others go back', async () => {
    world.upstream.control.setModel('gpt-4o-mini', { status: 529 });
    const moved = await ask({ model: 'first', messages: turns('moved', 0) });
    expect(providerOf(moved)).toBe('anthropic');
    world.upstream.control.reset();
    const stays = await ask({ model: 'first', messages: turns('moved', 1) });
    expect([providerOf(stays), stays.headers.get('x-failover'), stays.headers.get('x-original-provider')]).toEqual([
      ...['anthropic', 'true', 'openai'],
    ]);
    const row = (await logRow(world.gateway, stays.headers.get('x-request-id') ?? '')) as unknown as {
      attempts: { provider: string; outcome: string }[];
    };
    expect(row.attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ['openai', 'session_affinity'],
      ['anthropic', 'ok'],
    ]);
    expect(providerOf(await ask({ model: 'first', messages: turns('other', 1) }))).toBe('openai');
  });

  test('an alias may go without it', async () => {
    const body = { alias: 'loose', strategy: 'weighted', session_affinity: false };
    const targets = TARGETS.map((target) => ({ ...target, weight: 1 }));
    const made = await callAdmin<{ id: string }>(world.gateway, '/aliases', { body: { ...body, targets } });
    const ask20 = async () => {
      const found = new Set<string>();
      for (let i = 0; i < 20; i++) {
        found.add(providerOf(await ask({ model: 'loose', messages: turns('x', i), session: 'loose' })));
      }
      return found.size;
    };
    expect(await ask20()).toBe(2);
    const on = { method: 'PATCH', body: { session_affinity: true } };
    expect(await callAdmin<object>(world.gateway, `/aliases/${made.id}`, on)).toMatchObject({ session_affinity: true });
    expect(await ask20()).toBe(1);
  });

  test('it ends where the target is in trouble: the conversation goes on elsewhere, and stays there', async () => {
    const session = 'trouble';
    const first = providerOf(await ask({ messages: turns('x', 0), session }));
    const model = first === 'openai' ? 'gpt-4o-mini' : 'claude-haiku-4-5';
    world.upstream.control.setModel(model, { status: 529 });
    const other = providerOf(await ask({ messages: turns('x', 1), session }));
    expect(other).not.toBe(first);
    world.upstream.control.reset();
    for (let i = 2; i < 6; i++) expect(providerOf(await ask({ messages: turns('x', i), session }))).toBe(other);
  });
});
