import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { Database } from '@llm0/drizzle/client';
import { projectRows } from '@llm0/drizzle/queries/access/projects';
import {
  type AlertSettings,
  alertRows,
  deleteAlert,
  firingRows,
  listWatchedAlerts,
} from '@llm0/drizzle/queries/alerts';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { checkAlerts } from './check-alerts';
import type { JobContext } from './job';
import { readStores, StoreWatch } from './watch-stores';

const FOUND = { rule: 'mail', on: 'input', part: 'user', check: 'pii', action: 'block', count: 1, ms: 1 } as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe.each(TEST_DATABASES)('alerts on $name', (kind) => {
  let database: Database;
  let projectId: string;
  const nowMs = Date.now();
  const calls: { url: string; body: { event: string; text: string; value: number } }[] = [];
  let webhookFails = false;
  const post = async (url: string, body: object) => {
    if (webhookFails) throw new Error('no route');
    calls.push({ url, body: body as (typeof calls)[number]['body'] });
  };
  let trouble: string | undefined;
  let oldestAgeMs = 0;
  const hotStore = {
    health: async () => ({ ok: true }),
    depth: async () => ({ entries: oldestAgeMs > 0 ? 7 : 0, oldestAgeMs }),
  };
  const ping = async () => {
    if (trouble !== undefined) throw new Error(trouble);
  };
  const job = checkAlerts(post, () => [], readStores({ hotStore, ping }));

  beforeAll(async () => {
    database = await kind.open();
    // Tests before these share the embedded one, and the job looks at all alerts there are.
    for (const { id } of await listWatchedAlerts(database.db)) await alertRows.delete(database.db, { id });
    projectId = (await projectRows.create(database.db, { name: 'watched', monthlyCapNanoUsd: 1_000_000_000 })).id;
    await insertLogRecords(
      database.db,
      Array.from({ length: 10 }, (_, index) =>
        sampleRecord({
          projectId,
          createdAtMs: nowMs - 60_000,
          costNanoUsd: 90_000_000,
          latencyMs: 500,
          ...(index < 3 ? { guardrails: [FOUND] } : {}),
          ...(index < 4 ? { status: 'error', errorCode: 'upstream_error', httpStatus: 502 } : {}),
        }),
      ),
    );
  }, 60_000);
  afterAll(() => database.close());

  const run = (atMs = nowMs) => job.run({ db: database.db, nowMs: () => atMs } as JobContext);
  const alertOf = (given: Partial<AlertSettings>) =>
    alertRows.create(database.db, {
      name: 'watch',
      kind: 'spend',
      threshold: 1,
      windowMinutes: 15,
      projectId,
      webhookUrl: 'https://hooks.example.test/',
      isActive: true,
      ...given,
    });

  test('a store that is away is told of from memory, written down once it is back, and then told to be over', async () => {
    calls.length = 0;
    const down = await alertOf({ kind: 'store_down', name: 'stores', projectId: null });
    const queue = await alertOf({ kind: 'log_queue', name: 'queue', threshold: 5, projectId: null });
    const leads = { is: true };
    const watch = new StoreWatch({
      db: database.db,
      hotStore,
      ping,
      nowMs: () => nowMs,
      postWebhook: post,
      leads: () => leads.is,
    });
    await watch.look();
    expect(calls).toEqual([]);
    [trouble, oldestAgeMs, leads.is] = ['it is read-only and takes no changes', 6 * 60_000, false];
    for (let i = 0; i < 2; i++) await watch.look();
    expect(calls.map(({ body }) => body.text).sort()).toEqual([
      'Alert: queue: 7 rows of the log wait for Postgres, the oldest for 6.0 min',
      'Alert: stores: away: Postgres (it is read-only and takes no changes)',
    ]);
    expect((await alertRows.get(database.db, { id: down.id }))?.isFiring).toBe(false);
    [trouble, oldestAgeMs, leads.is] = [undefined, 0, true];
    await watch.look();
    expect(await alertRows.get(database.db, { id: down.id })).toMatchObject({ isFiring: true, changedAtMs: nowMs });
    await run();
    expect(calls.slice(2).map(({ body }) => body.event)).toEqual(['alert_resolved', 'alert_resolved']);
    for (const { id } of [down, queue]) await deleteAlert(database.db, id, nowMs);
    await run();
  });

  test.each([
    ['budget_share', 0.8, 0.95, /90\.0 % of the month budget of project watched/],
    ['error_rate', 0.3, 0.5, /40\.0 % of 10 requests failed/],
    ['latency_p95', 400, 600, /p95 latency of providers is ≈ (49|50|51)\d ms/],
    ['spend', 0.5, 1, /\$0\.90 was spent/],
    ['guardrail_hits', 3, 4, /guardrails found something 3 times/],
  ] as const)('%s fires at its threshold, not below it', async (alertKind, low, high, text) => {
    calls.length = 0;
    const fires = await alertOf({ kind: alertKind, threshold: low });
    const quiet = await alertOf({ kind: alertKind, threshold: high });
    expect((await run())?.message).toMatch(text);
    expect(calls.map((call) => call.body.event)).toEqual(['alert_firing']);
    expect(calls[0]?.body.text).toMatch(text);
    expect(await alertRows.get(database.db, { id: fires.id })).toMatchObject({ isFiring: true, changedAtMs: nowMs });
    expect(await alertRows.get(database.db, { id: quiet.id })).toMatchObject({ isFiring: false, changedAtMs: nowMs });
    expect(await run()).toBeNull();
    for (const { id } of [fires, quiet]) await alertRows.delete(database.db, { id });
  });

  test('a slow provider is told of, however much the cache answers', async () => {
    const { db } = database;
    const { id } = await projectRows.create(db, { name: 'cached' });
    const record = (given: Partial<LogRecord>) =>
      sampleRecord({ projectId: id, createdAtMs: nowMs - 60_000, latencyMs: 1, ...given });
    await insertLogRecords(db, [
      ...Array.from({ length: 40 }, (_, index) => record(index % 2 ? { cacheHit: true } : { semanticCacheHit: true })),
      ...Array.from({ length: 40 }, () => record({ status: 'error', errorCode: 'upstream_error', httpStatus: 502 })),
      record({ latencyMs: 5_000 }),
    ]);
    const slow = await alertOf({ kind: 'latency_p95', threshold: 3_000, projectId: id });
    expect((await run())?.message).toMatch(/p95 latency of providers is ≈ (4\.9|5\.0|5\.1) s/);
    await alertRows.delete(db, { id: slow.id });
  });

  test('a check keeps what it found, also of an alert that stays quiet or finds nothing', async () => {
    const { db } = database;
    const empty = await projectRows.create(db, { name: 'empty' });
    const quiet = await alertOf({ kind: 'error_rate', threshold: 0.5 });
    const fires = await alertOf({ kind: 'spend', threshold: 0.5 });
    const nothing = await alertOf({ kind: 'error_rate', projectId: empty.id });
    const hits = await alertOf({ kind: 'guardrail_hits', projectId: empty.id });
    const queue = await alertOf({ kind: 'log_queue', threshold: 5, projectId: null });
    const found = async ({ id }: { id: string }) => {
      const alert = await alertRows.get(db, { id });
      return [alert?.checkedAtMs, alert?.checkedValue, alert?.checkedText];
    };
    expect(await found(fires)).toEqual([null, null, null]);
    await run();
    expect(await found(quiet)).toEqual([nowMs, 0.4, '40.0 % of 10 requests failed']);
    expect(await found(fires)).toEqual([nowMs, 0.9, '$0.90 was spent']);
    expect(await found(nothing)).toEqual([nowMs, null, null]);
    expect((await found(queue)).at(-1)).toBe('no rows of the log wait for Postgres');
    expect((await found(hits)).at(-1)).toBe('guardrails found nothing');
    // The firing goes on; the value is that of now.
    await insertLogRecords(db, [sampleRecord({ projectId, createdAtMs: nowMs, costNanoUsd: 100_000_000 })]);
    await run(nowMs + 30_000);
    expect(await found(fires)).toEqual([nowMs + 30_000, 1, '$1.00 was spent']);
    for (const { id } of [quiet, fires, nothing, hits, queue]) await alertRows.delete(db, { id });
  });

  test('budget_share tells of each budget at 50, 80 and 95 %, once a period, whoever checks', async () => {
    const { db } = database;
    const owner = await projectRows.create(db, { name: 'levels', dailyBudgetNanoUsd: 1_000 });
    const spend = (costNanoUsd: number, createdAtMs = nowMs) =>
      insertLogRecords(db, [sampleRecord({ projectId: owner.id, costNanoUsd, createdAtMs })]);
    const limit = (nanoUsd: number) => projectRows.update(db, { id: owner.id }, { dailyBudgetNanoUsd: nanoUsd });
    const told = async (atMs = nowMs) => {
      calls.length = 0;
      // Another job each time, as after a restart.
      const restarted = checkAlerts(post, () => [], readStores({ hotStore, ping }));
      await restarted.run({ db, nowMs: () => atMs } as JobContext);
      return calls.map(({ body }) => body.text.replace(/^(\w+): budgets: /, '$1 '));
    };
    const of = (share: string, past: string) =>
      `Alert ${share} % of the day budget of project levels is used, past ${past}`;
    const alert = await alertOf({ kind: 'budget_share', name: 'budgets', threshold: 0.5, projectId: owner.id });
    expect(await told()).toEqual([]);
    await spend(550);
    webhookFails = true;
    expect(await told()).toEqual([]);
    webhookFails = false;
    expect(await told()).toEqual([of('55.0', '50 %')]);
    expect(await told()).toEqual([]);
    await spend(430);
    expect(await told()).toEqual([of('98.0', '80 %, 95 %')]);
    await limit(2_000);
    expect(await told()).toEqual(['Resolved 49.0 % of the day budget of project levels is used']);
    await limit(1_000);
    expect([await told(), await told()]).toEqual([[], []]);
    await projectRows.update(db, { id: owner.id }, { weeklyBudgetNanoUsd: 1_900 });
    expect(await told()).toEqual([
      expect.stringMatching(/51\.6 % of the week budget of project levels is used, past 50 %$/),
    ]);
    const tomorrowMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS + HOUR_MS;
    await told(tomorrowMs);
    await spend(600, tomorrowMs);
    expect((await told(tomorrowMs))[0]).toContain('60.0 % of the day budget of project levels is used, past 50 %');
    expect(await told(tomorrowMs)).toEqual([]);
    await alertRows.delete(db, { id: alert.id });
  });

  describe('a store that hangs', () => {
    const never = () => new Promise<never>(() => {});
    const hanging = { health: never, depth: never };
    const watched = async () => [
      await alertOf({ kind: 'log_queue', name: 'queue', projectId: null }),
      await alertOf({ kind: 'spend', name: 'spend', threshold: 0.5 }),
      await alertOf({ kind: 'store_down', name: 'stores', projectId: null }),
    ];

    test('is told of, and holds up no other alert', async () => {
      calls.length = 0;
      const made = await watched();
      const stores = readStores({ hotStore: hanging, ping: async () => {} });
      await checkAlerts(post, () => [], stores).run({ db: database.db, nowMs: () => nowMs } as JobContext);
      expect(calls.map(({ body }) => body.text).sort()).toEqual([
        'Alert: spend: $0.90 was spent',
        'Alert: stores: away: the hot store (no answer within 1 s)',
      ]);
      for (const { id } of made) await alertRows.delete(database.db, { id });
    });

    test('others are told before a measure that takes its time ends', async () => {
      calls.length = 0;
      const made = await watched();
      const told = Promise.withResolvers<void>();
      const depth = async () => {
        await told.promise;
        return { entries: 7, oldestAgeMs: 6 * 60_000 };
      };
      const watching = checkAlerts(
        async (url, body) => {
          await post(url, body);
          if (calls.length === 2) told.resolve();
        },
        () => [],
        { postgres: async () => undefined, away: async () => ['one'], depth },
      );
      await watching.run({ db: database.db, nowMs: () => nowMs } as JobContext);
      expect(calls.map(({ body }) => body.text.split(': ')[1])).toEqual([
        expect.stringMatching(/spend|stores/),
        expect.stringMatching(/spend|stores/),
        'queue',
      ]);
      for (const { id } of made) await alertRows.delete(database.db, { id });
    });

    test('with Postgres hanging too: told from memory, whatever the queue does', async () => {
      calls.length = 0;
      const made = await watched();
      let hangs = false;
      const watch = new StoreWatch({
        db: database.db,
        hotStore: { health: () => (hangs ? never() : Promise.resolve({ ok: true })), depth: never },
        ping: () => (hangs ? never() : Promise.resolve()),
        nowMs: () => nowMs,
        postWebhook: post,
        leads: () => true,
      });
      await watch.look();
      hangs = true;
      await watch.look();
      expect(calls.map(({ body }) => body.text)).toEqual([
        'Alert: stores: away: the hot store (no answer within 1 s), Postgres (no answer within 1 s)',
      ]);
      for (const { id } of made) await alertRows.delete(database.db, { id });
    });
  });

  test('a sum below a cent is told with its digits', async () => {
    calls.length = 0;
    const { id } = await projectRows.create(database.db, { name: 'frugal', monthlyCapNanoUsd: 1_000_000_000 });
    await insertLogRecords(database.db, [
      sampleRecord({ projectId: id, createdAtMs: nowMs - 60_000, costNanoUsd: 123_000 }),
    ]);
    const alert = await alertOf({ kind: 'spend', threshold: 0.0001, projectId: id });
    await run();
    expect(calls[0]?.body.text).toContain('$0.000123 was spent');
    await alertRows.delete(database.db, { id: alert.id });
  });

  test('recovery is sent once', async () => {
    calls.length = 0;
    const alert = await alertOf({ kind: 'spend', threshold: 0.5 });
    await run();
    await run(nowMs + 3_600_000);
    await run(nowMs + 3_600_000);
    expect(calls.map((call) => call.body.event)).toEqual(['alert_firing', 'alert_resolved']);
    await alertRows.delete(database.db, { id: alert.id });
  });

  test('a webhook that cannot be told is told at the next check', async () => {
    calls.length = 0;
    const alert = await alertOf({ kind: 'spend', threshold: 0.5 });
    webhookFails = true;
    expect(await run()).toBeNull();
    expect(await alertRows.get(database.db, { id: alert.id })).toMatchObject({
      isFiring: false,
      lastError: 'no route',
    });
    webhookFails = false;
    await run();
    expect(calls.length).toBe(1);
    expect(await alertRows.get(database.db, { id: alert.id })).toMatchObject({ isFiring: true, lastError: null });
    await alertRows.delete(database.db, { id: alert.id });
  });

  describe('nobody watches any more', () => {
    const events = () => calls.map((call) => call.body.event);
    const rowsOf = async (id: string) => (await listWatchedAlerts(database.db)).filter((alert) => alert.id === id);

    test('switched off while it fires: told to be over, once', async () => {
      calls.length = 0;
      const { id } = await alertOf({ threshold: 0.5 });
      await run();
      await alertRows.update(database.db, { id }, { isActive: false });
      await run();
      await run();
      expect(events()).toEqual(['alert_firing', 'alert_resolved']);
      expect(calls[1]?.body.text).toBe('Resolved: watch: the alert was switched off');
      expect(await alertRows.get(database.db, { id })).toMatchObject({ isFiring: false, isActive: false });
      await alertRows.delete(database.db, { id });
    });

    test('deleted while it fires: told to be over as soon as the webhook answers, then gone', async () => {
      calls.length = 0;
      const routing = { webhookFormat: 'pagerduty', routingKey: 'R0123456789' } as const;
      const { id } = await alertOf({ threshold: 0.5, ...routing });
      await run();
      await deleteAlert(database.db, id, nowMs);
      expect(await alertRows.get(database.db, { id })).toBeNull();
      webhookFails = true;
      await run();
      webhookFails = false;
      expect(await rowsOf(id)).toHaveLength(1);
      await run();
      const told = calls.map(({ body }) => body as unknown as Record<string, unknown>);
      expect(told).toMatchObject([
        { event_action: 'trigger', dedup_key: id },
        { event_action: 'resolve', dedup_key: id, routing_key: 'R0123456789' },
      ]);
      expect(await rowsOf(id)).toEqual([]);
    });

    test('deleted while it is quiet, or a day ago: nobody is told, and it is gone', async () => {
      calls.length = 0;
      const quiet = await alertOf({ threshold: 5 });
      await deleteAlert(database.db, quiet.id, nowMs);
      const old = await alertOf({ threshold: 0.5 });
      await run();
      await deleteAlert(database.db, old.id, nowMs - DAY_MS);
      await run();
      expect(events()).toEqual(['alert_firing']);
      expect([...(await rowsOf(quiet.id)), ...(await rowsOf(old.id))]).toEqual([]);
    });
  });

  test('a webhook that hangs holds up no other', async () => {
    const bothAsked = Promise.withResolvers<void>();
    let asked = 0;
    // Each answers only once the other was asked too: in a row neither would.
    const slow = checkAlerts(async () => {
      if (++asked === 2) bothAsked.resolve();
      await bothAsked.promise;
    });
    const made = await Promise.all([
      alertOf({ webhookUrl: 'https://one.example.test/', threshold: 0.5 }),
      alertOf({ webhookUrl: 'https://two.example.test/', threshold: 0.5 }),
    ]);
    await slow.run({ db: database.db, nowMs: () => nowMs } as JobContext);
    for (const { id } of made) {
      expect(await alertRows.get(database.db, { id })).toMatchObject({ isFiring: true });
      await alertRows.delete(database.db, { id });
    }
  });

  describe('muting and history', () => {
    const historyOf = async (alertId: string) => (await firingRows.list(database.db, { limit: 10 }, { alertId })).data;

    test('a firing is in the history from its beginning to its end, with the most that was measured', async () => {
      const alert = await alertOf({ kind: 'spend', threshold: 0.5 });
      await run();
      await insertLogRecords(database.db, [
        sampleRecord({ projectId, createdAtMs: nowMs - 30_000, costNanoUsd: 60_000_000 }),
      ]);
      await run();
      expect(await historyOf(alert.id)).toMatchObject([
        { createdAtMs: nowMs, endedAtMs: null, value: 0.9, highest: 0.96, text: '$0.90 was spent', toldAtMs: nowMs },
      ]);
      await run(nowMs + 3_600_000);
      expect(await historyOf(alert.id)).toMatchObject([{ endedAtMs: nowMs + 3_600_000 }]);
      await alertRows.delete(database.db, { id: alert.id });
      expect(await historyOf(alert.id)).toEqual([]);
    });

    test('muted: it fires and nobody is told; once the mute is over they are', async () => {
      calls.length = 0;
      const alert = await alertOf({ kind: 'spend', threshold: 0.5, mutedUntilMs: nowMs + 60_000 });
      await run();
      expect(calls).toEqual([]);
      expect(await historyOf(alert.id)).toMatchObject([{ endedAtMs: null, toldAtMs: null }]);
      const stateOf = async () => await alertRows.get(database.db, { id: alert.id });
      expect(await stateOf()).toMatchObject({ isMet: true, isFiring: false });
      await run(nowMs + 61_000);
      expect(await stateOf()).toMatchObject({ isMet: true, isFiring: true });
      expect(calls.map((call) => call.body.event)).toEqual(['alert_firing']);
      expect(await historyOf(alert.id)).toMatchObject([{ toldAtMs: nowMs + 61_000 }]);
      await alertRows.delete(database.db, { id: alert.id });
    });

    test('muted meanwhile: what was told to have begun is told to be over', async () => {
      calls.length = 0;
      const alert = await alertOf({ kind: 'spend', threshold: 0.5 });
      await run();
      await alertRows.update(database.db, { id: alert.id }, { mutedUntilMs: nowMs + 7_200_000 });
      await run(nowMs + 3_600_000);
      expect(calls.map((call) => call.body.event)).toEqual(['alert_firing', 'alert_resolved']);
      await alertRows.delete(database.db, { id: alert.id });
    });
  });

  test('a provider is down as long as its breaker is open', async () => {
    calls.length = 0;
    let downForMs = 30_000;
    const targets = () => [
      { provider: 'openai', model: 'gpt-one', mode: 'open' as const, openForMs: 1, downForMs, coolForMs: 0 },
      { provider: 'other', model: 'm', mode: 'closed' as const, openForMs: 0, coolForMs: 0 },
    ];
    const watching = checkAlerts(async (url, body) => void calls.push({ url, body: body as never }), targets);
    const alert = await alertOf({ kind: 'provider_down', threshold: 1, projectId: null });
    const check = () => watching.run({ db: database.db, nowMs: () => nowMs } as JobContext);
    expect(await check()).toBeNull();
    downForMs = 90_000;
    expect((await check())?.message).toMatch(/openai\/gpt-one down for 1\.5 min/);
    await alertRows.delete(database.db, { id: alert.id });
  });

  describe('providers that are down while others are', () => {
    type Target = ReturnType<Parameters<typeof checkAlerts>[1] & {}>[number];
    const target = (model: string, more: Partial<Target>): Target => ({
      ...{ provider: 'openai', model, mode: 'open', openForMs: 1, downForMs: 90_000, coolForMs: 0 },
      ...more,
    });
    let targets: readonly Target[] = [];
    const watching = checkAlerts(
      async (url, body) => {
        if (webhookFails) throw new Error('no route');
        calls.push({ url, body: body as never });
      },
      () => targets,
    );
    const check = (atMs: number) => watching.run({ db: database.db, nowMs: () => atMs } as JobContext);
    const texts = () => calls.map(({ body }) => body.text);
    const open = async (given: Partial<AlertSettings> = {}) => {
      calls.length = 0;
      return await alertOf({ kind: 'provider_down', threshold: 1, projectId: null, ...given });
    };
    const historyOf = async (alertId: string) => (await firingRows.list(database.db, { limit: 10 }, { alertId })).data;

    test('half-open and asked by nobody, one is not down; right after it may be asked again it still is', async () => {
      const alert = await open();
      targets = [target('a', {})];
      await check(nowMs);
      targets = [target('a', { mode: 'half_open', halfOpenForMs: 30_000, downForMs: 120_000 })];
      expect(await check(nowMs + 30_000)).toBeNull();
      targets = [target('a', { mode: 'half_open', halfOpenForMs: 61_000, downForMs: 151_000 })];
      await check(nowMs + 60_000);
      expect(texts()).toEqual([
        'Alert: watch: openai/a down for 1.5 min',
        'Resolved: watch: no provider is known to be down; not asked since it failed: openai/a',
      ]);
      await alertRows.delete(database.db, { id: alert.id });
    });

    test('PagerDuty has an incident for each, told again when the webhook failed', async () => {
      const { id } = await open({ webhookFormat: 'pagerduty', routingKey: 'R0123456789' });
      const incidents = new Map<unknown, unknown>();
      const pages = () => {
        const told = calls.splice(0).map(({ body }) => body as unknown as Record<string, unknown>);
        const begun = told.filter((one) => one.event_action === 'trigger' && !incidents.has(one.dedup_key));
        for (const one of told) {
          if (one.event_action === 'trigger') incidents.set(one.dedup_key, one);
          else incidents.delete(one.dedup_key);
        }
        return begun.map((one) => one.dedup_key);
      };
      targets = [target('a', {})];
      await check(nowMs);
      expect(pages()).toEqual([`${id}/openai/a`]);
      targets = [target('a', {}), target('b', {})];
      webhookFails = true;
      await check(nowMs + 1);
      webhookFails = false;
      targets = [target('b', {}), target('c', {})];
      await check(nowMs + 2);
      expect(pages()).toEqual([`${id}/openai/b`, `${id}/openai/c`]);
      expect([...incidents.keys()]).toEqual([`${id}/openai/b`, `${id}/openai/c`]);
      targets = [target('c', {})];
      await check(nowMs + 3);
      expect([pages(), [...incidents.keys()]]).toEqual([[], [`${id}/openai/c`]]);
      targets = [];
      await check(nowMs + 4);
      expect([pages(), incidents.size]).toEqual([[], 0]);
      await alertRows.delete(database.db, { id });
    });

    test('each further one is told, by name, once it has been down for so long; so are those that recovered', async () => {
      const alert = await open();
      targets = [target('a', {})];
      await check(nowMs);
      targets = [target('a', {}), target('b', { downForMs: 59_000 })];
      expect(await check(nowMs + 1)).toBeNull();
      targets = [target('a', {}), target('b', { downForMs: 61_000 })];
      await check(nowMs + 2);
      expect(await check(nowMs + 3)).toBeNull();
      targets = [target('a', { mode: 'closed', downForMs: undefined }), target('b', {}), target('c', {})];
      await check(nowMs + 4);
      targets = [];
      await check(nowMs + 5);
      const told = [
        'openai/a down for 1.5 min',
        'openai/a, openai/b down for 1.5 min; new: openai/b',
        'openai/b, openai/c down for 1.5 min; new: openai/c; no longer: openai/a',
      ];
      expect(texts()).toEqual([
        ...told.map((text) => `Alert: watch: ${text}`),
        'Resolved: watch: all providers answer',
      ]);
      const history = (await historyOf(alert.id)).toReversed();
      expect(history.map(({ text }) => text)).toEqual(told);
      const times = history.map(({ createdAtMs, endedAtMs, toldAtMs }) => [createdAtMs, endedAtMs, toldAtMs]);
      expect(times.map((row) => row.map((atMs) => (atMs ?? 0) - nowMs))).toEqual([
        ...[
          [0, 2, 0],
          [2, 4, 2],
          [4, 5, 4],
        ],
      ]);
      await alertRows.delete(database.db, { id: alert.id });
    });

    test('one that could not be told, or came while the alert was muted, is told later', async () => {
      const alert = await open();
      targets = [target('a', {})];
      await check(nowMs);
      targets = [target('a', {}), target('b', {})];
      webhookFails = true;
      expect(await check(nowMs + 1)).toBeNull();
      webhookFails = false;
      await check(nowMs + 2);
      expect(texts()[1]).toBe('Alert: watch: openai/a, openai/b down for 1.5 min; new: openai/b');
      await alertRows.update(database.db, { id: alert.id }, { mutedUntilMs: nowMs + 1000 });
      targets = [target('a', {}), target('b', {}), target('c', {})];
      expect(await check(nowMs + 3)).toBeNull();
      await check(nowMs + 2000);
      expect(texts()[2]).toContain('; new: openai/c');
      expect(await check(nowMs + 2001)).toBeNull();
      await alertRows.delete(database.db, { id: alert.id });
    });
  });

  test('an error budget burns by both windows', async () => {
    calls.length = 0;
    const fires = await alertOf({ kind: 'error_budget_burn', threshold: 20, objective: 0.99, windowMinutes: 60 });
    const quiet = await alertOf({ kind: 'error_budget_burn', threshold: 20, objective: 0.9, windowMinutes: 60 });
    expect((await run())?.message).toMatch(/burns \d+\.\d times too fast: 4 of 11 requests failed within 60 min/);
    expect(calls).toHaveLength(1);
    for (const { id } of [fires, quiet]) await alertRows.delete(database.db, { id });
  });

  test('the hit ratio falls against the week before', async () => {
    calls.length = 0;
    const own = (await projectRows.create(database.db, { name: 'cached' })).id;
    const at = (createdAtMs: number, cacheHit: boolean) => sampleRecord({ projectId: own, createdAtMs, cacheHit });
    await insertLogRecords(database.db, [
      ...Array.from({ length: 120 }, (_, index) => at(nowMs - 2 * DAY_MS, index % 2 === 0)),
      ...Array.from({ length: 30 }, (_, index) => at(nowMs - 60_000, index % 10 === 0)),
    ]);
    const alert = await alertOf({ kind: 'cache_ratio_fall', threshold: 0.5, projectId: own });
    expect((await run())?.message).toMatch(/10\.0 % of answers came from a cache, 50\.0 % over the week before/);
    await alertRows.delete(database.db, { id: alert.id });
  });

  test('an hour that costs far more than it does on other days is an anomaly', async () => {
    calls.length = 0;
    const own = (await projectRows.create(database.db, { name: 'odd' })).id;
    const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
    const at = (createdAtMs: number, costNanoUsd: number) => sampleRecord({ projectId: own, createdAtMs, costNanoUsd });
    await insertLogRecords(
      database.db,
      Array.from({ length: 20 }, (_, day) => at(hourMs - (day + 1) * DAY_MS + 1000, 1_000_000_000 + day * 1_000_000)),
    );
    const alert = await alertOf({ kind: 'spend_anomaly', threshold: 5, projectId: own });
    expect(await run()).toBeNull();
    await insertLogRecords(database.db, [at(hourMs + 1000, 5_000_000_000)]);
    expect((await run())?.message).toMatch(
      /\$5\.00 was spent in the hour from \d\d:00 UTC, \d+\.\d deviations above the usual of four weeks/,
    );
    await alertRows.delete(database.db, { id: alert.id });
  });

  test('each format gets its own shape', async () => {
    calls.length = 0;
    const made = await Promise.all([
      alertOf({ kind: 'spend', threshold: 0.5, webhookFormat: 'slack' }),
      alertOf({ kind: 'spend', threshold: 0.5, webhookFormat: 'teams' }),
      alertOf({ kind: 'spend', threshold: 0.5, webhookFormat: 'pagerduty', routingKey: 'R0123456789' }),
    ]);
    await run();
    const bodies = calls.map(({ body }) => body as unknown as Record<string, unknown>);
    expect(bodies.filter((body) => 'attachments' in body)).toHaveLength(2);
    expect(bodies.find((body) => 'routing_key' in body)).toMatchObject({
      ...{ routing_key: 'R0123456789', event_action: 'trigger', dedup_key: made[2].id },
    });
    for (const { id } of made) await alertRows.delete(database.db, { id });
  });

  test('a kind of a later release is left alone, and is no failure', async () => {
    const alert = await alertOf({ kind: 'of_later' as 'spend', threshold: 0.5 });
    expect(await run()).toBeNull();
    await deleteAlert(database.db, alert.id, nowMs);
    expect(await run()).toBeNull();
    expect(await alertRows.get(database.db, { id: alert.id })).toBeNull();
  });

  test('one that cannot be measured holds up none of the others', async () => {
    calls.length = 0;
    const broken = () => {
      throw new Error('no health');
    };
    const watching = checkAlerts(async (url, body) => void calls.push({ url, body: body as never }), broken);
    const made = [
      await alertOf({ kind: 'provider_down', projectId: null }),
      await alertOf({ kind: 'spend', threshold: 0.5 }),
    ];
    await watching.run({ db: database.db, nowMs: () => nowMs } as JobContext);
    expect(calls).toHaveLength(1);
    for (const { id } of made) await alertRows.delete(database.db, { id });
  });
});
