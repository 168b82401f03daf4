import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type HostileServer, type Manner, ODD_NAMES, startHostileServer } from '../mcp/hostile-server';
import { callAdmin } from '../stores/start-gateway';
import { settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';
import { watchGateway } from './watch-gateway';

const TIMEOUT_MS = 1500;
/** What a busy machine may take on top. */
const GRACE_MS = 8_000;
const PRICE_USD = 0.01;

/** What comes back by JSON-RPC, as far as these tests look at it. */
interface Answer {
  readonly id?: unknown;
  readonly result?: {
    readonly tools?: readonly { readonly name: string; readonly description?: string }[];
    readonly content?: readonly { readonly text: string }[];
    readonly _meta?: Readonly<Record<string, readonly { readonly server: string; readonly notice: string }[]>>;
  };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly type: string } };
}

describe('hostile MCP servers', () => {
  let world: TestEnvironment;
  let hostile: HostileServer;
  let projectId: string;
  let key: string;

  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
  const admin = (method: string, path: string, body?: object): Promise<any> =>
    callAdmin(world.gateway, path, { method, body });
  const post = (path: string, method: string, params: object = {}, signal?: AbortSignal) =>
    fetch(new URL(path, world.gateway.url), {
      method: 'POST',
      signal,
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  const asked = async (path: string, method: string, params: object = {}): Promise<Answer> => {
    const answer = await post(path, method, params);
    const said = await answer.text();
    if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true) return JSON.parse(said);
    const last = said.split('\n').findLast((line) => line.startsWith('data: {')) ?? 'data: {}';
    return JSON.parse(last.slice(6));
  };
  const added: string[] = [];
  const add = async (...manners: readonly Manner[]) => {
    for (const manner of manners) {
      if (added.includes(manner)) continue;
      added.push(manner);
      const settings = { timeout_ms: TIMEOUT_MS, price_per_call_usd: PRICE_USD };
      await admin('POST', '/mcp/servers', { approve: 'all', alias: manner, url: hostile.urlOf(manner), ...settings });
    }
  };
  const spentUsd = async () => {
    const ledger = await settledLedger(world.gateway);
    expect(ledger).toMatchObject({ ok: true, open_holds: 0 });
    return ledger.projects.find((one) => one.project_id === projectId)?.counter_usd ?? 0;
  };

  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'embedded', apart: true });
    hostile = startHostileServer();
    projectId = String((await admin('POST', '/projects', { name: 'agents' })).id);
    const body = { name: 'agent', rate_limit_per_minute: null, allowed_tools: ['*'] };
    key = String((await admin('POST', `/projects/${projectId}/keys`, body)).key);
    await add('good');
    await asked('/mcp/good', 'tools/list');
  }, 60_000);
  afterAll(async () => {
    await hostile.stop();
    await world.close();
  });

  test('endless, huge, deep and invalid lists are skipped; the others stay', async () => {
    const bad = ['endless-list', 'same-page', 'too-many', 'huge-list', 'deep-list', 'no-list'] as const;
    const lost = ['not-json', 'silent', 'redirect'] as const;
    const { livezMs, grewMib } = await watchGateway(world.gateway, async () => {
      await add(...bad, ...lost);
      const startMs = performance.now();
      const { result } = await asked('/mcp', 'tools/list');
      expect(performance.now() - startMs).toBeLessThan(3 * TIMEOUT_MS + GRACE_MS);
      expect(result?.tools?.map(({ name }) => name)).toEqual(['good__a']);
      const notices = Object.values(result?._meta ?? {})[0] ?? [];
      expect(notices.map(({ server }) => server)).toEqual([...bad, ...lost].sort());
      for (const { notice } of notices) expect(notice).toMatch(/^Left out: ./);
    });
    expect(livezMs).toBeLessThan(2000);
    expect(grewMib).toBeLessThan(250);
    for (const { id } of (await admin('GET', '/mcp/servers?limit=100')).data as { id: string; alias: string }[]) {
      const { alias } = await admin('GET', `/mcp/servers/${id}`);
      if (alias !== 'good') await admin('DELETE', `/mcp/servers/${id}`);
    }
  }, 120_000);

  test('tools with unusable names are hidden, names never collide, and the first duplicate wins', async () => {
    await add('odd-names', 'same-names');
    const { result } = await asked('/mcp', 'tools/list');
    const names = (result?.tools ?? []).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const odd = names.filter((name) => name.startsWith('odd-names__')).map((name) => name.slice('odd-names__'.length));
    for (const name of odd) expect(name).toMatch(/^[A-Za-z0-9_.\-/]{1,128}$/);
    const usable = ODD_NAMES.filter((name) => typeof name === 'string' && /^[A-Za-z0-9_.\-/]{1,128}$/.test(name));
    expect(odd).toEqual([...(usable as string[])].sort());
    expect(odd).toEqual(expect.arrayContaining(['a__b', '__proto__', 'constructor', 'x'.repeat(128)]));
    for (const name of ['a__b', '__proto__', 'constructor']) {
      const { result: said } = await asked('/mcp', 'tools/call', { name: `odd-names__${name}`, arguments: {} });
      expect(said?.content?.[0]?.text).toBe(`called ${name}`);
    }
    const same = result?.tools?.filter(({ name }) => name.startsWith('same-names__'));
    expect(same).toMatchObject([{ name: 'same-names__a', description: 'The first.' }]);
    const notices = Object.values(result?._meta ?? {})[0] ?? [];
    expect(notices.map(({ server }) => server)).toEqual(['odd-names', 'same-names']);
  }, 60_000);

  test('a tool that changes with every list is never shown unapproved', async () => {
    await add('changing');
    const first = await asked('/mcp/changing', 'tools/list');
    expect(first.result?.tools?.length).toBeGreaterThan(0);
    const endMs = performance.now() + 10_000;
    for (let shown = ''; shown !== 'b'; ) {
      if (performance.now() > endMs) throw new Error(`still shown: ${shown}`);
      await Bun.sleep(50);
      shown = (await asked('/mcp/changing', 'tools/list')).result?.tools?.map(({ name }) => name).join() ?? '';
    }
    const { error } = await asked('/mcp/changing', 'tools/call', { name: 'a', arguments: {} });
    expect(error?.message).toMatch(/approve/);
  }, 60_000);

  test('huge, deep, foreign and misplaced answers are errors, without time or memory', async () => {
    const manners = ['huge-result', 'huge-event', 'deep-result', 'wrong-id', 'redirect-calls'] as const;
    await add(...manners);
    await asked('/mcp', 'tools/list');
    const { livezMs, grewMib } = await watchGateway(world.gateway, async () => {
      for (const manner of manners) {
        const { error } = await asked('/mcp', 'tools/call', { name: `${manner}__a`, arguments: {} });
        expect([manner, error?.data?.type]).toEqual([manner, 'upstream_error']);
        expect(error?.message).toContain(manner);
      }
    });
    expect(livezMs).toBeLessThan(2000);
    expect(grewMib).toBeLessThan(250);
  }, 120_000);

  test('the caller finds its own id, in any spelling of the answer', async () => {
    await add('id-first', 'escaped-id');
    await asked('/mcp', 'tools/list');
    for (const manner of ['id-first', 'escaped-id'] as const) {
      const { id, result } = await asked('/mcp', 'tools/call', { name: `${manner}__a`, arguments: {} });
      expect([manner, id]).toEqual([manner, 1]);
      expect(result?.content?.[0]?.text).toMatch(manner === 'id-first' ? /^llm0-/ : /^escaped$/);
    }
  }, 60_000);

  test('dripping bytes, endless events and hanging servers end at the time-out', async () => {
    await add('dripping', 'endless-events', 'hanging');
    await asked('/mcp', 'tools/list');
    const before = await spentUsd();
    const { grewMib } = await watchGateway(world.gateway, async () => {
      for (const manner of ['dripping', 'hanging'] as const) {
        const startMs = performance.now();
        const { error } = await asked('/mcp', 'tools/call', { name: `${manner}__a`, arguments: {} });
        expect([manner, error?.data?.type]).toEqual([manner, 'upstream_timeout']);
        expect(performance.now() - startMs).toBeLessThan(TIMEOUT_MS + GRACE_MS);
      }
      const { error } = await asked('/mcp', 'tools/call', { name: 'endless-events__a', arguments: {} });
      expect(error?.data?.type).toBe('upstream_error');
    });
    expect(grewMib).toBeLessThan(250);
    // Each of them was sent, and may have run.
    expect((await spentUsd()) - before).toBeCloseTo(3 * PRICE_USD, 9);
  }, 120_000);

  test("a client that leaves cancels the server's call within a second and frees its hold", async () => {
    await add('hanging');
    await asked('/mcp', 'tools/list');
    const [open, told] = [hostile.openCalls(), hostile.cancelled.length];
    const leaving = new AbortController();
    const pending = post('/mcp/hanging', 'tools/call', { name: 'a', arguments: {} }, leaving.signal).catch(() => {});
    await waitUntil(() => hostile.openCalls() > open, 5000);
    const startMs = performance.now();
    leaving.abort();
    await waitUntil(() => hostile.cancelled.length > told, 5000);
    await waitUntil(() => hostile.openCalls() === open, 5000);
    expect(performance.now() - startMs).toBeLessThan(1000);
    await pending;
    await spentUsd();
  }, 60_000);
});
