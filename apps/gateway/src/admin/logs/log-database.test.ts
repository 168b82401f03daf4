import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createLogEngine } from '@llm0/drizzle/queries/clickhouse/create-log-engine';
import { attachLogEngine } from '@llm0/drizzle/queries/clickhouse/log-engine';
import { noteComparedDay, noteComplete } from '@llm0/drizzle/queries/logs/log-days';
import { addSinks, noteSinkFailure } from '@llm0/drizzle/queries/logs/log-sinks';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const STORE = 'clickhouse://test:8123/llm0';
const atMs = Date.parse('2026-11-01T00:00:00Z');

describe.each(ON_ONE_DATABASE)('the log database on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  test('there is none, then it is moving, answers, is away, and is compared again', async () => {
    const { db } = admin.services;
    expect((await admin.call('GET', '/log-database')).status).toBe(404);
    const open = async () => {
      throw new Error('connect ECONNREFUSED');
    };
    attachLogEngine(db, createLogEngine({ db, store: STORE, open }));
    await addSinks(db, [STORE]);
    const moving = {
      ...{ name: STORE, state: 'moving', complete_at: null, days: 0, rows: 0, cost_usd: '0' },
      ...{ postgres_from_at: null, failing_since_at: null, problem: null, waiting_since_at: null },
    };
    expect((await admin.call('GET', '/log-database')).body).toEqual(moving);
    const sums = { rows: 3, costNanoUsd: 1_500_000_000, savedNanoUsd: 0, tokens: 9, refused: 3, ids: 1, bodies: 0 };
    await noteComparedDay(db, STORE, { day: '2026-10-31', sums });
    await noteComplete(db, STORE, atMs);
    const complete = { state: 'answers', complete_at: '2026-11-01T00:00:00.000Z', days: 1, rows: 3, cost_usd: '1.5' };
    expect((await admin.call('GET', '/log-database')).body).toEqual({ ...moving, ...complete });
    expect((await admin.call('GET', '/status')).body).toMatchObject({ log_database: { ok: true, since: null } });
    await noteSinkFailure(db, STORE, { atMs, problem: 'no space left' });
    const away = { state: 'away', failing_since_at: '2026-11-01T00:00:00.000Z', problem: 'no space left' };
    expect((await admin.call('GET', '/log-database')).body).toMatchObject(away);
    expect((await admin.call('GET', '/status')).body).toMatchObject({
      log_database: { ok: false, since: '2026-11-01T00:00:00.000Z' },
    });
    const again = await admin.call('POST', '/log-database/compare');
    expect([again.status, again.body.complete_at, again.body.days]).toEqual([201, null, 0]);
    const [noted] = (await admin.call('GET', '/audit')).body.data;
    expect(noted).toMatchObject({ action: 'compare', resource: 'log_database' });
  });
});
