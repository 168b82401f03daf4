import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ALERT_KIND_FACTS, ALERT_KINDS } from '@llm0/core/alerts/kinds';
import { alertRows, endFiring, recordAlertCheck, recordAlertState, recordFiring } from '@llm0/drizzle/queries/alerts';
import { alerts } from '@llm0/drizzle/schema/admin-access';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { eq } from 'drizzle-orm';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const HOOK = { name: 'watch', webhook_url: 'https://hooks.example.test/x' };
const KEY = 'R0123456789ABCDEF';

describe.each(ON_ONE_DATABASE)('alerts of the admin API on $name', (kind) => {
  let admin: AdminUnderTest;
  const made: string[] = [];
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(async () => {
    for (const id of made) await admin.call('DELETE', `/alerts/${id}`);
    await admin.close();
  });
  const create = async (body: object) => {
    const answer = await admin.call('POST', '/alerts', { body: { ...HOOK, ...body } });
    if (answer.status === 201) made.push(answer.body.id);
    return answer;
  };

  test.each(ALERT_KINDS.map((one) => ({ one })))('$one is made with what is usual for it', async ({ one }) => {
    const { status, body } = await create({ kind: one });
    expect([status, body.threshold, body.webhook_format, body.muted_until]).toEqual([
      ...[201, ALERT_KIND_FACTS[one].defaultThreshold, 'json', null],
    ]);
    const preview = await admin.call('GET', `/alert-preview?kind=${one}`);
    expect(preview.status).toBe(ALERT_KIND_FACTS[one].isReplayed ? 200 : 400);
  });

  test('a threshold that is always or never passed is refused, at once and later', async () => {
    const refused = { status: 400, body: { error: { param: 'threshold' } } };
    expect(await create({ kind: 'error_rate', threshold: 7 })).toMatchObject(refused);
    expect(await create({ kind: 'provider_down', threshold: 0 })).toMatchObject(refused);
    expect(await create({ kind: 'error_budget_burn', threshold: 200, objective: 0.99 })).toMatchObject(refused);
    const { body } = await create({ kind: 'error_budget_burn', threshold: 200, objective: 0.999 });
    const patch = (changes: object) => admin.call('PATCH', `/alerts/${body.id}`, { body: changes });
    expect(await patch({ objective: 0.9 })).toMatchObject(refused);
    expect(await patch({ kind: 'error_rate' })).toMatchObject(refused);
    expect(await patch({ kind: 'spend' })).toMatchObject({ status: 200, body: { kind: 'spend', threshold: 200 } });
  });

  test('a webhook where none may be is refused at once', async () => {
    const { body } = await create({ kind: 'spend' });
    for (const url of ['http://169.254.169.254/x', 'http://192.168.0.1/', 'http://[fd00::1]/', 'http://10.0.0.1/']) {
      const refused = { status: 400, body: { error: { param: 'webhook_url' } } };
      expect(await create({ kind: 'spend', webhook_url: url })).toMatchObject(refused);
      expect(await admin.call('PATCH', `/alerts/${body.id}`, { body: { webhook_url: url } })).toMatchObject(refused);
    }
  });

  test('PagerDuty needs a key, which is never shown', async () => {
    expect(await create({ kind: 'spend', webhook_format: 'pagerduty' })).toMatchObject({
      status: 400,
      body: { error: { param: 'routing_key' } },
    });
    const answer = await create({ kind: 'spend', webhook_format: 'pagerduty', routing_key: KEY });
    expect(answer.body).toMatchObject({ has_routing_key: true, webhook_format: 'pagerduty' });
    const { id } = answer.body;
    await admin.call('POST', `/alerts/${id}/test`, { body: {} });
    expect(admin.webhooks.at(-1)?.body).toMatchObject({ routing_key: KEY, payload: { severity: 'info' } });
    const gone = await admin.call('PATCH', `/alerts/${id}`, { body: { routing_key: null } });
    expect([gone.status, gone.body.error.param]).toEqual([400, 'routing_key']);
    const changed = await admin.call('PATCH', `/alerts/${id}`, {
      body: { routing_key: null, webhook_format: 'slack' },
    });
    expect(changed.body).toMatchObject({ has_routing_key: false });
    const shown = await Promise.all(
      ['/alerts', `/alerts/${id}`, '/audit?resource=alert&limit=1000'].map((path) => admin.call('GET', path)),
    );
    expect([answer, changed, ...shown].some(({ text }) => text.includes(KEY))).toBe(false);
  });

  test('muted until a time, and not any more', async () => {
    const { body } = await create({ kind: 'error_budget_burn', objective: 0.999 });
    expect(body.objective).toBe(0.999);
    const until = '2099-01-01T00:00:00.000Z';
    const path = `/alerts/${body.id}`;
    expect((await admin.call('PATCH', path, { body: { muted_until: until } })).body.muted_until).toBe(until);
    expect((await admin.call('PATCH', path, { body: { threshold: 2 } })).body.muted_until).toBe(until);
    expect((await admin.call('PATCH', path, { body: { muted_until: null } })).body.muted_until).toBeNull();
    expect((await admin.call('PATCH', path, { body: { muted_until: 'soon' } })).status).toBe(400);
    expect((await admin.call('PATCH', path, { body: { objective: 1 } })).status).toBe(400);
  });

  test('the history, newest first; who stops watching ends what fires', async () => {
    const { body } = await create({ kind: 'spend' });
    const { db } = admin.database;
    await recordFiring(db, body.id, { value: 1, text: 'one', atMs: 1_700_000_000_000 });
    await endFiring(db, body.id, 1_700_000_060_000);
    await recordFiring(db, body.id, { value: 2, text: 'two', atMs: 1_700_000_120_000 });
    const list = async () => (await admin.call('GET', `/alerts/${body.id}/firings`)).body.data;
    expect(await list()).toMatchObject([
      { text: 'two', value: 2, ended_at: null, told_at: null },
      { text: 'one', created_at: '2023-11-14T22:13:20.000Z', ended_at: '2023-11-14T22:14:20.000Z' },
    ]);
    const shown = async () => (await admin.call('GET', `/alerts/${body.id}`)).body;
    expect(await shown()).toMatchObject({ is_firing: true, was_told: false });
    const [stored] = await alertRows.find(db, eq(alerts.id, body.id));
    if (stored === undefined) throw new Error('The alert is missing');
    await recordAlertState(db, stored, true, 1_700_000_180_000);
    const listed = async () =>
      (await admin.call('GET', '/alerts?limit=1000')).body.data.find(({ id }: { id: string }) => id === body.id);
    const told_at = '2023-11-14T22:16:20.000Z';
    expect(await listed()).toMatchObject({ firing: { text: 'two', value: 2, told_at }, told_at });
    expect(await listed()).toMatchObject({ last_check: null });
    await recordAlertCheck(db, body.id, { value: 3, text: 'three', atMs: 1_700_000_180_000 });
    expect(await listed()).toMatchObject({ last_check: { at: told_at, value: 3, text: 'three' } });
    // What was measured for one kind means nothing for another.
    await admin.call('PATCH', `/alerts/${body.id}`, { body: { kind: 'guardrail_hits' } });
    expect(await listed()).toMatchObject({ last_check: null });
    await admin.call('PATCH', `/alerts/${body.id}`, { body: { is_active: false } });
    expect(await listed()).toMatchObject({ firing: null, told_at });
    expect(await shown()).toMatchObject({ is_firing: false });
    expect((await list())[0].ended_at).toBeString();
    expect((await admin.call('GET', `/alerts/${crypto.randomUUID()}/firings`)).status).toBe(404);
  });
});
