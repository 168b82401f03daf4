import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { planOf, requestOf } from '@llm0/core/limits/store-rows.fixture';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { deleteExpired } from '@llm0/drizzle/queries/logs/retention';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { tokenActor } from '../access/actors';
import { type AdminUnderTest, ENV_TOKEN, openAdmin } from '../admin.fixture';
import type { StatsCache } from '../stats/stats-cache';
import { type LiveStreamOptions, liveEvents, MOST_WAITING_BYTES, streamOf } from './live-stream';
import { createLooks } from './live-topics';

interface Told {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came
  readonly data: any;
}

function parse(text: string): Told[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('id:'))
    .map((block) => {
      const [, id = '', event = '', data = ''] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? [];
      return { id, event, data: JSON.parse(data) };
    });
}

describe.each(TEST_DATABASES)('timeline, on $name', (kind) => {
  let admin: AdminUnderTest;
  let projectId: string;
  const open: ReadableStreamDefaultReader<Uint8Array>[] = [];
  beforeAll(async () => {
    admin = await openAdmin({ ...kind, open: () => kind.openOwn() });
    projectId = (await admin.createProject()).id;
  }, 60_000);
  afterAll(() => admin.close());
  afterEach(async () => {
    for (const reader of open.splice(0)) await reader.cancel();
  });

  const once = async (query: string, cursor?: string) => {
    const headers: Record<string, string> = cursor === undefined ? {} : { 'last-event-id': cursor };
    const answer = await admin.call('GET', `/live?once=true&${query}`, { headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    return parse(answer.text);
  };
  const rowsOf = (told: readonly Told[]): string[] =>
    told.filter(({ event }) => event === 'logs').flatMap(({ data }) => data.rows.map((row: { id: string }) => row.id));
  const store = async (given: object = {}) => {
    const record = sampleRecord({ projectId, ...given });
    await insertLogRecords(admin.database.db, [record]);
    // What processes share is kept for a moment.
    admin.advanceClock(2000);
    return record.id;
  };
  const openStream = async (query: string, options: { token?: string; cookie?: string } = {}) => {
    const headers: Record<string, string> =
      options.cookie === undefined
        ? { authorization: `Bearer ${options.token ?? ENV_TOKEN}` }
        : { cookie: options.cookie, 'sec-fetch-site': 'same-origin' };
    const answer = await admin.request(`/v1/live?${query}`, { headers });
    if (answer.status !== 200 || answer.body === null) return { status: answer.status, next: async () => [] };
    const reader = answer.body.getReader();
    open.push(reader);
    const next = async (): Promise<Told[] | null> => {
      const { done, value } = await reader.read();
      return done ? null : parse(new TextDecoder().decode(value));
    };
    return { status: answer.status, next };
  };

  test('a row is told once, however long its request took; with its cursor nothing is told twice or missed', async () => {
    const begun = await once('topics=logs');
    expect(begun[0]).toMatchObject({ event: 'hello', data: { resumed: false } });
    const hello = begun.at(-1);
    const quick = await store();
    // It began ten minutes before, and a newer one was told already.
    const slow = await store({ createdAtMs: Date.now() - 600_000 });
    const first = await once('topics=logs', hello?.id);
    expect(rowsOf(first)).toEqual([quick, slow]);
    const cursor = first.at(-1)?.id;
    expect(rowsOf(await once('topics=logs', cursor))).toEqual([]);
    const late = await store();
    expect(rowsOf(await once('topics=logs', cursor))).toEqual([late]);
    expect(rowsOf(await once('topics=logs', hello?.id))).toEqual([late, quick, slow]);
  });

  test('filters are those of the list; a filter that the list refuses is refused', async () => {
    const hello = (await once('topics=logs')).at(-1);
    await store();
    const failed = await store({ status: 'error', errorCode: 'upstream_error', httpStatus: 502 });
    expect(rowsOf(await once('topics=logs&status=error', hello?.id))).toEqual([failed]);
    const refused = await admin.call('GET', '/live?topics=logs&status=bad');
    expect([refused.status, refused.body.error.param]).toEqual([400, 'status']);
    expect((await admin.call('GET', '/live?topics=nothing')).status).toBe(400);
  });

  test('far behind, of another database, or more than a page shows: the page is told to begin anew', async () => {
    const ahead = await once('topics=logs', 'logs=999999999');
    expect(ahead.map(({ event }) => event)).toEqual(['hello', 'reset']);
    const before = (await once('topics=logs')).at(-1)?.id;
    const many = Array.from({ length: 300 }, () => sampleRecord({ projectId }));
    await insertLogRecords(admin.database.db, many);
    admin.advanceClock(2000);
    const told = await once('topics=logs', before);
    expect(told.map(({ event }) => event)).toEqual(['hello', 'reset']);
    expect(rowsOf(await once('topics=logs', told.at(-1)?.id))).toEqual([]);
  });

  test('an hour without a request: nothing is begun anew, and the next row is told', async () => {
    await store();
    const cursor = (await once('topics=logs,overview')).at(-1)?.id;
    await deleteExpired(admin.database.db, 'log_batches', Date.now() + 60_000);
    admin.advanceClock(2000);
    expect((await once('topics=logs,overview', cursor)).map(({ event }) => event)).toEqual(['hello']);
    const next = await store();
    const told = await once('topics=logs', cursor);
    expect([told.map(({ event }) => event), rowsOf(told)]).toEqual([['hello', 'logs'], [next]]);
  });

  test('counters, status, alerts and changes are told when they change, and not again', async () => {
    const topics = 'topics=overview,status,alerts,audit';
    const first = await once(topics);
    expect(first.map(({ event }) => event)).toEqual(['hello', 'overview', 'status', 'alerts']);
    expect((await once(topics, first.at(-1)?.id)).map(({ event }) => event)).toEqual(['hello']);
    const before = first.find(({ event }) => event === 'overview')?.data.requests;
    await store();
    admin.targets.push({ provider: 'openai', model: 'gpt-4o', mode: 'open', downForMs: 1000 } as never);
    await admin.call('POST', '/alerts', {
      body: { name: 'told', kind: 'spend', webhook_url: 'https://example.com/x' },
    });
    // Longer than counters are kept that took a busy machine long.
    admin.advanceClock(6000);
    const next = await once(topics, first.at(-1)?.id);
    admin.targets.length = 0;
    expect(next.map(({ event }) => event)).toEqual(['hello', 'overview', 'status', 'alerts', 'audit']);
    expect(next[1]?.data.requests).toBe(before + 1);
    expect(next[2]?.data.open[0].provider).toBe('openai');
    expect(next[3]?.data.alerts[0].name).toBe('told');
    expect(next[4]?.data.entries.map((entry: { resource: string }) => entry.resource)).toEqual(['alert']);
  });

  test('requests that end are counted once, with those in flight', async () => {
    const first = await once('topics=traffic');
    expect(first.map(({ event }) => event)).toEqual(['hello', 'traffic']);
    expect((await once('topics=traffic', first.at(-1)?.id)).map(({ event }) => event)).toEqual(['hello']);
    await store({ status: 'rate_limited', httpStatus: 429, refusedCount: 7 });
    await store({ status: 'error', errorCode: 'upstream_timeout', httpStatus: 504 });
    await store({ status: 'error', errorCode: 'model_not_found', httpStatus: 404 });
    // A demo's rows of earlier days aren't traffic; a long request that ends now is.
    await store({ createdAtMs: Date.now() - 86_400_000, status: 'error', errorCode: 'upstream_error' });
    await store({ createdAtMs: Date.now() - 600_000, latencyMs: 600_000 });
    const ids = { requestId: Bun.randomUUIDv7(), projectId, keyId: crypto.randomUUID() };
    const { hotStore } = admin.services;
    await hotStore.admit(requestOf({ ...ids, requested: planOf({ ...ids, holdNanoUsd: 5 }) }));
    admin.advanceClock(2000);
    const next = await once('topics=traffic', first.at(-1)?.id);
    const { batches, in_flight } = next[1]?.data ?? {};
    const counts = batches.map((batch: Record<string, number>) => [
      ...[batch.requests, batch.failed, batch.caller_errors, batch.refused],
    ]);
    expect(counts).toEqual([
      ...[
        [7, 0, 0, 7],
        [1, 1, 0, 0],
        [1, 0, 1, 0],
        [0, 0, 0, 0],
        [1, 0, 0, 0],
      ],
    ]);
    expect(in_flight).toBe(first[1]?.data.in_flight + 1);
    expect((await once('topics=traffic', next.at(-1)?.id)).map(({ event }) => event)).toEqual(['hello']);
  });

  test('counters kept from before a row came in are not told as news of it', async () => {
    let nowMs = 100_000;
    let askedAtMs = nowMs;
    const kept = {
      answer: async (_: unknown, isFresh = false) => {
        if (isFresh) askedAtMs = nowMs;
        return { json: `{"asked_at":${askedAtMs}}`, isWorthKeeping: true, ageMs: nowMs - askedAtMs };
      },
    } as unknown as StatsCache;
    const clock = { nowMs: Date.now, monotonicMs: () => nowMs };
    const { overview } = createLooks({ ...admin.services, clock }, kept);
    const query = { actor: tokenActor('me', 'admin', true), filter: {}, rangeMs: 60_000 } as const;
    const { cursor } = await overview(query, undefined);
    expect((await overview(query, cursor)).shown).toBeUndefined();
    nowMs += 1000;
    await store();
    expect(await overview(query, cursor)).toEqual({ cursor });
    nowMs += 6000;
    expect((await overview(query, cursor)).shown).toEqual({ asked_at: nowMs });
  });

  test('a viewer sees no webhook; nobody sees anything without signing in', async () => {
    const { body } = await admin.call('POST', '/tokens', { body: { name: 'looks', role: 'viewer' } });
    // From now on: other suites have written to the same audit log.
    const last = `audit=${Date.now() - 1}`;
    const alert = { name: 'seen', kind: 'spend', webhook_url: 'https://example.com/x' };
    await admin.call('POST', '/alerts', { body: alert });
    const from = { headers: { 'last-event-id': last }, token: body.token };
    const { text } = await admin.call('GET', '/live?once=true&topics=audit,alerts', from);
    expect(text).toContain('https://example.com/…');
    expect(text).not.toContain('https://example.com/x');
    expect((await admin.call('GET', '/live?topics=logs', { token: null })).status).toBe(401);
  });

  test('a stream ends when its token is revoked, or its session signs out', async () => {
    const { body } = await admin.call('POST', '/tokens', { body: { name: 'brief', role: 'viewer' } });
    const signIn = await admin.call('POST', '/session', {
      body: { token: ENV_TOKEN },
      token: null,
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    const cookie = (signIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const ofToken = await openStream('topics=logs', { token: body.token });
    const ofSession = await openStream('topics=logs', { cookie });
    expect((await ofToken.next())?.[0]?.event).toBe('hello');
    expect((await ofSession.next())?.[0]?.event).toBe('hello');
    await admin.call('DELETE', `/tokens/${body.id}`);
    await admin.call('DELETE', '/session', { token: null, headers: { cookie, 'sec-fetch-site': 'same-origin' } });
    admin.advanceClock(2000);
    for (const stream of [ofToken, ofSession]) {
      expect(await stream.next()).toMatchObject([{ event: 'end', data: { reason: 'signed_out' } }]);
      expect(await stream.next()).toBeNull();
    }
  });

  test('one may have eight streams; who leaves makes room', async () => {
    const streams = await Promise.all(Array.from({ length: 9 }, () => openStream('topics=status')));
    expect(streams.map(({ status }) => status).sort()).toEqual([...Array(8).fill(200), 429]);
    await open.pop()?.cancel();
    expect((await openStream('topics=status')).status).toBe(200);
  });
});

describe('a stream', () => {
  const quiet = (given: Partial<LiveStreamOptions> = {}, state = { nowMs: 0 }): LiveStreamOptions => {
    const actor = tokenActor('me', 'admin', true);
    const look = async () => ({ cursor: '1' });
    return {
      topics: ['logs', 'status'],
      query: { actor, filter: {}, rangeMs: 1 },
      cursor: {},
      looks: { logs: look, overview: look, traffic: look, status: look, alerts: look, audit: look },
      whoAsks: async () => actor,
      isStopping: () => false,
      clock: { nowMs: () => state.nowMs, monotonicMs: () => state.nowMs },
      sleep: async (ms) => {
        state.nowMs += ms;
      },
      once: false,
      signal: new AbortController().signal,
      ...given,
    };
  };

  test('is less than 20 kB a minute when nothing happens, and shows that it lives', async () => {
    const state = { nowMs: 0 };
    let bytes = 0;
    let heartbeats = 0;
    for await (const text of liveEvents(quiet({ isStopping: () => state.nowMs >= 60_000 }, state))) {
      bytes += text.length;
      if (text === ':\n\n') heartbeats++;
    }
    expect(heartbeats).toBeGreaterThanOrEqual(3);
    expect(bytes).toBeLessThan(1000);
  });

  test('goes on where it was when a store does not answer for a while, and ends with the rights', async () => {
    const asked: (string | undefined)[] = [];
    const logs = async (_: unknown, cursor: string | undefined) => {
      asked.push(cursor);
      if (asked.length === 2) throw new Error('away');
      return { cursor: String(asked.length), shown: { rows: [] } };
    };
    const base = quiet();
    const whoAsks = async () => (asked.length < 4 ? base.query.actor : tokenActor('me', 'viewer', null));
    const told: string[] = [];
    for await (const text of liveEvents({ ...base, topics: ['logs'], looks: { ...base.looks, logs }, whoAsks }))
      told.push(text);
    expect(asked).toEqual([undefined, '1', '1', '3']);
    expect(told.at(-1)).toContain('access_changed');
  });

  test('is cut off when its reader does not keep up', async () => {
    const big = 'x'.repeat(MOST_WAITING_BYTES / 4);
    let made = 0;
    async function* endless() {
      for (;;) {
        made++;
        yield big;
      }
    }
    let ended = 0;
    const reader = streamOf(endless(), () => ended++).getReader();
    await Bun.sleep(1);
    expect([made, ended]).toEqual([4, 1]);
    let read = 0;
    while (!(await reader.read()).done) read++;
    expect(read).toBe(4);
  });
});
