import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import { createRoutingTables, type RoutingTables } from '@llm0/core/routing/routing-tables';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin, storeRecords } from '../admin.fixture';
import { createStatusReader } from './read-status';

describe.each(ON_ONE_DATABASE)('status on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  test('an open breaker is told with since when, and with the requests that others answered', async () => {
    expect((await admin.call('GET', '/status')).body).toEqual({ hot_store: { kind: 'embedded', ok: true }, open: [] });
    const nowMs = Date.now();
    const attempt = (provider: string, outcome: string) => ({
      provider,
      model: 'other',
      outcome,
      startMs: 0,
      latencyMs: outcome === 'breaker_open' ? 0 : 5,
    });
    const left: Readonly<Record<string, string>> = { openai: 'timeout', mistral: 'breaker_open' };
    const switched = (to: string) => {
      const outcome = left[to];
      if (outcome === undefined) return {};
      return { failoverCount: 1, attempts: [attempt('groq', outcome), attempt(to, 'ok')] };
    };
    const record = (agoMs: number, finalProvider: string) =>
      sampleRecord({
        ...{ createdAtMs: nowMs - agoMs, provider: 'groq', finalProvider, ...switched(finalProvider) },
      });
    await storeRecords(admin, [
      ...[record(30_000, 'openai'), record(20_000, 'mistral'), record(10_000, 'groq')],
      record(90_000, 'openai'),
    ]);
    const closed = { coolForMs: 0, openForMs: 0 };
    admin.targets.push(
      { provider: 'groq', model: 'a', mode: 'open', downForMs: 60_000, coolForMs: 0, openForMs: 20_000 },
      { provider: 'groq', model: 'b', mode: 'open', downForMs: 5000, coolForMs: 0, openForMs: 40_000 },
      { provider: 'openai', model: 'c', mode: 'closed', ...closed },
    );
    const { open } = (await admin.call('GET', '/status')).body;
    expect(open).toMatchObject([{ provider: 'groq', models: ['a', 'b'], answered_elsewhere: 2 }]);
    expect(Math.abs(Date.parse(open[0].since) - (nowMs - 60_000))).toBeLessThan(5000);
    expect(Math.abs(Date.parse(open[0].retry_at) - (nowMs + 20_000))).toBeLessThan(5000);
    const listed = await admin.call('GET', `/logs?failover_from=groq&from=${open[0].since}`);
    expect(listed.body.data.length).toBe(2);
    admin.targets.length = 0;
  });

  test('a due retry is past and stays the same; a drained provider is told as such', async () => {
    const clock = { ...admin.services.clock, nowMs: () => nowMs };
    let nowMs = Date.now();
    const provider = { name: 'xai', place: 'cloud', modelPatterns: [], liveModels: new Set<string>() } as const;
    let isDrained = false;
    const tables = (): RoutingTables => {
      const providers = new Map([['xai', { ...provider, isDrained }]]);
      return createRoutingTables({ providers, prices: createPriceBook([], new Set()) });
    };
    const read = createStatusReader({ ...admin.services, clock, routing: tables });
    const due = { provider: 'xai', model: 'a', mode: 'open', coolForMs: 0, openForMs: 0 } as const;
    admin.targets.push({ ...due, downForMs: 0 });
    const [first] = (await read()).open;
    expect([first?.is_drained, Date.parse(first?.retry_at ?? '') <= nowMs]).toEqual([false, true]);
    nowMs += 1500;
    expect((await read()).open).toMatchObject([{ retry_at: first?.retry_at }]);
    isDrained = true;
    expect((await read()).open).toMatchObject([{ provider: 'xai', is_drained: true }]);
    admin.targets.length = 0;
  });

  test('since when survives a restart: the log knows since when it fails without an answer between', async () => {
    const nowMs = Date.now();
    const [provider, model] = ['cohere', 'c1'];
    const failed = { provider, model, outcome: 'server_error', status: 500, startMs: 0, latencyMs: 5 };
    const elsewhere = (agoMs: number) =>
      sampleRecord({
        ...{ createdAtMs: nowMs - agoMs, provider, finalProvider: 'openai', model: 'gpt', failoverCount: 1 },
        attempts: [failed, { provider: 'openai', model: 'gpt', outcome: 'ok', startMs: 6, latencyMs: 9 }],
      });
    const answered = (agoMs: number, of: string) =>
      sampleRecord({ createdAtMs: nowMs - agoMs, provider, finalProvider: provider, model: of });
    await storeRecords(admin, [
      ...[elsewhere(3_000_000), answered(2_000_000, model), elsewhere(1_800_000), elsewhere(60_000)],
      // Another model of it is well.
      answered(30_000, 'c2'),
    ]);
    // Seen by a process that is half a minute old.
    admin.targets.push({ provider, model, mode: 'open', downForMs: 20_000, coolForMs: 0, openForMs: 0 });
    const { open } = (await admin.call('GET', '/status')).body;
    expect(open).toMatchObject([{ provider, models: [model], answered_elsewhere: 2 }]);
    expect(Date.parse(open[0].since)).toBe(nowMs - 1_800_000);
    admin.targets.length = 0;
  });
});
