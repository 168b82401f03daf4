import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { STARTED } from '@llm0/drizzle/queries/annotations';
import { addSystemLog } from '@llm0/drizzle/queries/logs/system-logs';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

describe.each(ON_ONE_DATABASE)('annotations on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const tell = (body: object) => admin.call('POST', '/annotations', { body });
  const textsOf = ({ body }: { body: { data: { text: string }[] } }) => body.data.map(({ text }) => text);

  test('told, listed by range and kind, deleted, and audited', async () => {
    const now = await tell({ text: 'now' });
    expect([now.status, now.body.kind, now.body.project_id]).toEqual([201, 'note', null]);
    expect(Math.abs(Date.parse(now.body.at) - Date.now())).toBeLessThan(60_000);
    const deploy = await tell({ text: 'web 1.2', kind: 'deploy', at: '2026-03-01T10:00:00+01:00' });
    expect(deploy.body.at).toBe('2026-03-01T09:00:00.000Z');
    const day = 'from=2026-03-01&to=2026-03-02';
    expect(textsOf(await admin.call('GET', `/annotations?${day}`))).toEqual(['web 1.2']);
    expect(textsOf(await admin.call('GET', `/annotations?${day}&kind=note`))).toEqual([]);
    // Demo data of other suites lies in the same database.
    const all = textsOf(await admin.call('GET', '/annotations'));
    expect(all.filter((text) => ['web 1.2', 'now'].includes(text))).toEqual(['web 1.2', 'now']);
    const path = `/annotations/${deploy.body.id}`;
    expect((await admin.call('DELETE', path)).status).toBe(204);
    expect((await admin.call('DELETE', path)).status).toBe(404);
    const { body } = await admin.call('GET', '/audit?resource=annotation');
    const own = body.data.filter(({ resource_id: id }: { resource_id: string }) =>
      [now.body.id, deploy.body.id].includes(id),
    );
    expect(own.map(({ action }: { action: string }) => action)).toEqual(['delete', 'create', 'create']);
  });

  test("invalid values are refused with the field's name", async () => {
    const refused = async (body: object) => (await tell(body)).body.error.param;
    expect(await refused({})).toBe('text');
    expect(await refused({ text: '' })).toBe('text');
    expect(await refused({ text: 'x', kind: 'party' })).toBe('kind');
    expect(await refused({ text: 'x', at: 'yesterday' })).toBe('at');
    expect((await tell({ text: 'x', project_id: crypto.randomUUID() })).status).toBe(404);
    expect((await admin.call('GET', '/timeline?from=2026-03-02&to=2026-03-01')).body.error.param).toBe('to');
  });

  test('the timeline tells of keys, caps, routes, starts and annotations; of one project without the others', async () => {
    const from = new Date(Date.now() - 1000).toISOString();
    const [one, other] = [await admin.createProject(), await admin.createProject()];
    await admin.call('PATCH', `/projects/${one.id}`, { body: { monthly_cap_usd: 12.5 } });
    await admin.call('PATCH', `/projects/${one.id}`, { body: { name: `${one.name} renamed` } });
    const key = (await admin.call('POST', `/projects/${other.id}/keys`, { body: { name: 'worker' } })).body;
    await admin.call('DELETE', `/projects/${other.id}/keys/${key.id}`);
    await admin.call('PUT', `/projects/${one.id}/customers/acme/limits`, { body: { requests_per_day: 7 } });
    await tell({ text: 'only one', kind: 'deploy', project_id: one.id });
    for (const process of ['a', 'b'])
      await addSystemLog(admin.services.db, {
        ...{
          eventType: STARTED,
          outcome: 'ok',
          durationMs: null,
          message: `Gateway started: ${process}`,
          metadata: {},
        },
      });
    const ask = async (more = '') => {
      const to = new Date(Date.now() + 60_000).toISOString();
      return textsOf(await admin.call('GET', `/timeline?from=${from}&to=${to}${more}`));
    };
    const ofOne = await ask(`&project_id=${one.id}`);
    expect(ofOne).toContain(`Project “${one.name}” changed: monthly cap $12.5`);
    expect(ofOne).toContain('Limits of customer “acme” created: requests a day 7');
    expect(ofOne).toContain('only one');
    expect(ofOne.filter((text) => /renamed”/.test(text))).toEqual([]);
    expect(ofOne.filter((text) => /worker/.test(text))).toEqual([]);
    const ofOther = await ask(`&project_id=${other.id}`);
    expect(ofOther.filter((text) => /worker/.test(text)).length).toBe(2);
    expect(ofOther).not.toContain('only one');
    const all = await ask();
    expect(all.filter((text) => /^Gateway started/.test(text)).length).toBe(1);
    expect(all).toContain('only one');
    const before = textsOf(await admin.call('GET', `/timeline?from=2020-01-01&to=2020-01-02`));
    expect(before).toEqual([]);
  });
});
