import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createKeySecret } from '@llm0/core/keys/api-key';
import { putSignOnKey } from '@llm0/drizzle/queries/access/sign-on-keys';
import { createBatch } from '@llm0/drizzle/queries/batches/batches';
import { createFile } from '@llm0/drizzle/queries/batches/files';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { give, type Kit, makeKit, makePerson, type Person } from './people.fixture';

const AT_MS = Date.parse('2026-04-08T10:00:00.000Z');
const DAY = 'from=2026-04-08T00:00:00Z&to=2026-04-09T00:00:00Z';
const NOW = `from=${new Date(Date.now() - 3_600_000).toISOString()}&to=${new Date(Date.now() + 3_600_000).toISOString()}`;

/** Lists and statistics, without a project: whatever they tell must be of the person's own teams. */
const READS = [
  ...['/projects', '/keys?q=mark', '/aliases', '/alerts', '/annotations', '/label-budgets', '/budgets?limit=1000'],
  ...[`/timeline?${NOW}`, `/customers?${DAY}`, '/customers?q=mark', '/failovers', '/cache/near-misses'],
  ...[
    `/logs?${DAY}`,
    `/logs?q=mark`,
    `/logs?sort=-cost_usd&${DAY}`,
    `/logs?format=csv&${DAY}`,
    `/logs?format=ndjson&${DAY}`,
  ],
  ...[`/logs/histogram?${DAY}`, '/logs?project_id_not=00000000-0000-0000-0000-000000000000'],
  ...['api_key_id', 'project_id', 'model', 'customer_id', 'label', 'label.app'].map(
    (field) => `/logs/suggestions?field=${field}`,
  ),
  ...['project', 'key', 'customer', 'label.app'].map((by) => `/stats/spend?group_by=${by}&interval=all&${DAY}`),
  ...[
    `/stats/flows?${DAY}`,
    `/stats/failovers?${NOW}`,
    `/stats/differences?${DAY}&region_from=2026-04-08&region_to=2026-04-09&min_ms=0&max_ms=9`,
  ],
  ...[`/stats/spend-table?${DAY}&rows=project&columns=customer`, `/stats/tools?group_by=tool&interval=all&${DAY}`],
  ...[`/tool-calls?${DAY}`, '/runs', '/audit?limit=1000', '/teams', '/organizations'],
  ...['project', 'key', 'customer', 'label.app'].map((by) => `/finance/statement?month=2026-04&by=${by}`),
  ...[
    '/finance/statement.csv?month=2026-04&by=customer',
    '/finance/focus.csv?month=2026-04',
    '/finance/closings',
    '/finance/labels',
    '/live?topics=logs,overview&once=true',
  ],
] as const;

describe.each(ON_ONE_DATABASE)('people of a team on $name', (kind) => {
  let admin: AdminUnderTest;
  let own: Kit;
  let other: Kit;
  let ann: Person;
  beforeAll(async () => {
    admin = await openAdmin(kind);
    [own, other] = [await makeKit(admin, AT_MS), await makeKit(admin, AT_MS)];
    ann = await makePerson(admin);
    await give(admin, own.teamId, ann.id, 'team_admin');
  }, 60_000);
  afterAll(() => admin.close());

  const idsOf = (kit: Kit) => Object.values(kit);

  test.each(READS)('%s tells nothing of another team', async (path) => {
    const answer = await ann.call('GET', path);
    expect([path, answer.status, answer.status === 200 ? '' : answer.text]).toEqual([path, 200, '']);
    const leaked = idsOf(other).filter((secret) => answer.text.includes(secret));
    expect([path, leaked]).toEqual([path, []]);
  });

  test('the person sees all of this of the own team, and the sums are its own', async () => {
    const seen = async (path: string) =>
      idsOf(own).filter((id) => path !== '' && id !== undefined && idsSeen.get(path)?.includes(id));
    const idsSeen = new Map<string, string>();
    for (const path of READS) idsSeen.set(path, (await ann.call('GET', path)).text);
    expect(await seen('/projects')).toContain(own.projectId);
    expect(await seen(`/logs?${DAY}`)).toContain(own.requestId);
    expect(await seen(`/logs?format=csv&${DAY}`)).toContain(own.requestId);
    expect(await seen(`/tool-calls?${DAY}`)).toContain(own.toolCallId);
    expect(await seen('/audit?limit=1000')).toContain(own.keyId);
    // Who joined the team concerns it, too.
    const { data } = (await ann.call('GET', '/audit?resource=member')).body;
    expect(data.map((one: { resource_id: string }) => one.resource_id)).toContain(`${own.teamId}/${ann.id}`);
    expect(idsSeen.get('/logs/suggestions?field=customer_id') ?? '').toContain(own.mark);
    for (const by of ['project', 'customer', 'label.app', 'key']) {
      const { buckets } = (await ann.call('GET', `/stats/spend?group_by=${by}&interval=all&${DAY}`)).body;
      const requests = buckets.reduce((sum: number, bucket: { requests: number }) => sum + bucket.requests, 0);
      expect([by, requests]).toEqual([by, 1]);
    }
    expect((await ann.call('GET', `/stats/overview?${DAY}`)).body.requests).toBe(1);
  });

  test.each(['logs', 'tool-calls'])(
    "another team's row of %s: not by id, filter, search, key, cursor or body",
    async (log) => {
      const id = log === 'logs' ? other.requestId : other.toolCallId;
      for (const path of [`/${log}/${id}`, `/${log}/${id}/bodies`, `/${log}/${id.toUpperCase()}`]) {
        const answer = await ann.call('GET', path);
        expect([path, answer.status, answer.text.includes(other.mark)]).toEqual([path, 404, false]);
      }
      const found = async (query: string) => (await ann.call('GET', `/${log}?${DAY}&${query}`)).body.data.length;
      expect(await found(`request_id=${id}`)).toBe(0);
      expect(await found(`api_key_id=${other.keyId}`)).toBe(0);
      if (log === 'logs')
        expect([await found(`q=prompt ${other.mark}`), await found(`q=prompt ${own.mark}`)]).toEqual([0, 1]);
      for (const query of [
        `project_id=${other.projectId}`,
        `project_id=${own.projectId}&project_id=${other.projectId}`,
      ]) {
        expect((await ann.call('GET', `/${log}?${query}`)).status).toBe(404);
      }
      // A cursor of somebody who sees everything continues within the own projects.
      const page = await admin.call('GET', `/${log}?limit=1&${DAY}`);
      const { next_cursor: cursor } = page.body;
      if (cursor === null) throw new Error('there is one page only');
      const next = await ann.call('GET', `/${log}?limit=1000&${DAY}&cursor=${cursor}`);
      expect(idsOf(other).filter((secret) => next.text.includes(secret))).toEqual([]);
    },
  );

  test('no odd spelling of project_id passes the guard', async () => {
    const odd = ['project_id[]', 'project_id%00', 'Project_id', 'project%5Fid'];
    for (const name of odd) {
      const answer = await ann.call('GET', `/logs?${DAY}&${name}=${other.projectId}`);
      expect([name, answer.text.includes(other.requestId)]).toEqual([name, false]);
    }
    for (const path of [`/logs/../logs/${other.requestId}`, `/logs//${other.requestId}`, `/LOGS/${other.requestId}`]) {
      expect([path, (await ann.call('GET', path)).status]).toEqual([path, 404]);
    }
    expect((await ann.request(`/logs/${other.requestId}`, 'HEAD')).status).toBe(404);
    expect((await ann.call('GET', `/logs/%${other.requestId}`)).status).toBe(404);
  });

  test("another team's run: not by its name, with or without its project", async () => {
    expect((await ann.call('GET', `/runs/${own.mark}`)).body).toMatchObject({ project_id: own.projectId });
    for (const path of [`/runs/${other.mark}`, `/runs/${other.mark}?project_id=${other.projectId}`]) {
      expect([path, (await ann.call('GET', path)).status]).toEqual([path, 404]);
    }
    const stopped = await ann.call('POST', `/runs/${other.mark}/stop`, { body: {} });
    const raised = await ann.call('POST', `/runs/${other.mark}/raise`, { body: { budget_usd: 5 } });
    expect([stopped.status, raised.status]).toEqual([404, 404]);
  });

  test("another team's batch: neither in the list nor by its id, and it can't be cancelled", async () => {
    const make = async ({ projectId, keyId: apiKeyId }: Kit) => {
      const errorFileId = Bun.randomUUIDv7();
      const at = { createdAtMs: AT_MS, expiresAtMs: null };
      const file = { ...at, projectId, apiKeyId, bytes: 0, name: 'e.jsonl', purpose: 'batch_output' };
      await createFile(admin.database.db, { ...file, id: errorFileId });
      const [id, inputFileId] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()];
      const owner = { id, projectId, apiKeyId, inputFileId, dialect: 'openai', endpoint: '/v1/responses' } as const;
      return createBatch(admin.database.db, {
        ...owner,
        status: 'failed',
        errorFileId,
        headers: {},
        endedAtMs: AT_MS,
        expiresAtMs: AT_MS,
      });
    };
    const [mine, theirs] = [await make(own), await make(other)];
    const { data } = (await ann.call('GET', '/batches')).body;
    expect(data.map(({ id }: { id: string }) => id)).toEqual([mine.id]);
    expect((await ann.call('GET', `/batches/${mine.id}`)).body).toMatchObject({ project_id: own.projectId });
    for (const path of [`/batches/${theirs.id}`, `/batches/batch_${theirs.id.replaceAll('-', '')}`]) {
      expect([path, (await ann.call('GET', path)).status]).toEqual([path, 404]);
    }
    expect((await ann.call('GET', `/batches?project_id=${other.projectId}`)).status).toBe(404);
    const errors = async (id: string) => (await ann.call('GET', `/batches/${id}/files/error`)).status;
    expect([await errors(theirs.id), await errors(mine.id)]).toEqual([404, 200]);
    expect((await ann.call('GET', `/batches/${mine.id}/files/output`)).status).toBe(404);
    const cancel = async (id: string) => (await ann.call('POST', `/batches/${id}/cancel`, { body: {} })).status;
    expect([await cancel(theirs.id), await cancel(mine.id)]).toEqual([404, 409]);
  });

  test('without a team: nothing; an unknown team: nothing', async () => {
    const nobody = await makePerson(admin);
    expect((await nobody.call('GET', '/projects')).status).toBe(403);
    expect((await nobody.call('GET', '/me')).body.memberships).toEqual([]);
    expect((await nobody.call('GET', '/teams')).status).toBe(403);
    const empty = (await admin.call('POST', '/teams', { body: { name: `empty ${crypto.randomUUID()}` } })).body;
    await give(admin, empty.id, nobody.id, 'team_admin');
    expect((await nobody.call('GET', '/projects')).body.data).toEqual([]);
    expect((await nobody.call('GET', `/logs?${DAY}`)).body.data).toEqual([]);
    expect((await nobody.call('GET', `/stats/overview?${DAY}`)).body.requests).toBe(0);
  });

  test('bodies: a permission of its own, never of auditors and billing; a viewer never writes', async () => {
    const path = `/logs/${own.requestId}/bodies`;
    const statusOf = async (role: 'member' | 'viewer' | 'auditor' | 'billing', can_read_bodies?: boolean) => {
      const person = await makePerson(admin);
      await give(admin, own.teamId, person.id, role, { can_read_bodies });
      const written = await person.call('PATCH', `/projects/${own.projectId}`, { body: { name: 'x' } });
      expect([role, written.status]).toEqual([role, 403]);
      const found = await person.call('GET', `/logs?q=prompt ${own.mark}&${DAY}`);
      return [(await person.call('GET', path)).status, found.body.data?.length];
    };
    expect(await statusOf('member')).toEqual([403, 0]);
    expect(await statusOf('member', true)).toEqual([200, 1]);
    expect(await statusOf('viewer', true)).toEqual([200, 1]);
    expect(await statusOf('auditor', true)).toEqual([403, 0]);
    expect(await statusOf('billing', true)).toEqual([403, undefined]);
    expect((await ann.call('GET', path)).status).toBe(200);
    await give(admin, own.teamId, ann.id, 'team_admin', { can_read_bodies: false });
    expect((await ann.call('GET', path)).status).toBe(403);
    // What was taken can't be given back by oneself, or to an accomplice.
    const members = `/teams/${own.teamId}/members`;
    for (const [user_id, role, can_read_bodies] of [
      [ann.id, 'team_admin', undefined],
      [ann.id, 'team_admin', true],
      [(await makePerson(admin)).id, 'member', true],
    ] as const) {
      const given = await ann.call('POST', members, { body: { user_id, role, can_read_bodies } });
      expect([given.status, given.body.error.param]).toEqual([403, 'can_read_bodies']);
    }
    // A group would give it again to who left.
    expect((await ann.call('DELETE', `${members}/${ann.id}`)).status).toBe(403);
    expect((await ann.call('GET', path)).status).toBe(403);
    await give(admin, own.teamId, ann.id, 'team_admin');
  });

  test('members: keys of their own, within what the project permits', async () => {
    const member = await makePerson(admin);
    await give(admin, own.teamId, member.id, 'member');
    const keys = `/projects/${own.projectId}/keys`;
    const made = await member.call('POST', keys, { body: { name: 'mine' } });
    expect([made.status, made.body.user_id]).toEqual([201, member.id]);
    const post = async (body: object) => (await member.call('POST', keys, { body: { name: 'x', ...body } })).status;
    expect([
      await post({ user_id: ann.id }),
      await post({ passthrough: ['openai'] }),
      await post({ code_mode: true }),
    ]).toEqual([403, 403, 403]);
    const patch = async (key: string, body: object) => (await member.call('PATCH', `${keys}/${key}`, { body })).status;
    expect([await patch(made.body.id, { name: 'still mine' }), await patch(made.body.id, { user_id: null })]).toEqual([
      200, 403,
    ]);
    expect([await patch(own.keyId, { name: 'x' }), await patch(other.keyId, { name: 'x' })]).toEqual([403, 404]);
    expect((await member.call('POST', `${keys}/${own.keyId}/chat/completions`, { body: {} })).status).toBe(403);
    expect((await member.call('POST', `${keys}/${made.body.id}/chat/completions`, { body: {} })).status).toBe(200);
    const ofTokens = await putSignOnKey(admin.database.db, {
      userId: member.id,
      projectId: own.projectId,
      ...{ name: 'tokens', hash: createKeySecret().hash, prefix: 'sign-on' },
    });
    expect([
      await patch(ofTokens.id, { budget_usd: null }),
      (await member.call('DELETE', `${keys}/${ofTokens.id}`)).status,
    ]).toEqual([403, 403]);
    expect((await member.call('POST', `${keys}/${ofTokens.id}/chat/completions`, { body: {} })).status).toBe(200);
    const foreign = `/projects/${other.projectId}/keys/${made.body.id}/chat/completions`;
    expect((await member.call('POST', foreign, { body: {} })).status).toBe(404);
    const mine = (await member.call('GET', '/me/keys')).body.data;
    expect(mine.map((key: { id: string; spent_usd: string }) => [key.id, key.spent_usd])).toEqual([
      [ofTokens.id, '0'],
      [made.body.id, '0'],
    ]);
    const [withDays] = (await member.call('GET', '/me/keys?spend_days=2')).body.data;
    expect(withDays.spend_by_day).toEqual([0, 0]);
    expect((await ann.call('GET', '/me/keys')).body.data).toEqual([]);
    // Deactivated: sessions and keys end.
    await admin.call('PATCH', `/users/${member.id}`, { body: { is_active: false } });
    expect((await admin.call('GET', `${keys}/${made.body.id}`)).body.is_active).toBe(false);
    expect((await member.call('GET', '/me')).status).toBe(401);
  });

  test('nobody gives a role that holds further than their own', async () => {
    const person = await makePerson(admin);
    const put = async (who: Person, role: string, teamId = own.teamId) =>
      (await who.call('POST', `/teams/${teamId}/members`, { body: { user_id: person.id, role } })).status;
    expect([await put(ann, 'org_admin'), await put(ann, 'system_admin'), await put(ann, 'team_admin')]).toEqual([
      403, 403, 201,
    ]);
    expect(await put(ann, 'member', other.teamId)).toBe(404);
    await give(admin, own.teamId, person.id, 'system_admin');
    expect([
      await put(ann, 'member'),
      (await ann.call('DELETE', `/teams/${own.teamId}/members/${person.id}`)).status,
    ]).toEqual([403, 403]);
    await give(admin, own.teamId, person.id, 'org_admin');
    expect(
      (await person.call('POST', '/teams', { body: { organization_id: other.organizationId, name: 'x' } })).status,
    ).toBe(404);
    expect(
      (await person.call('POST', '/teams', { body: { organization_id: own.organizationId, name: 'second' } })).status,
    ).toBe(201);
    expect((await person.call('POST', '/teams', { body: { name: 'x' } })).status).toBe(403);
  });

  test('a lost role ends an open stream within a second, and applies to the next request', async () => {
    const person = await makePerson(admin);
    await give(admin, own.teamId, person.id, 'viewer');
    const reader = (await person.request('/live?topics=logs')).body?.getReader();
    if (reader === undefined) throw new Error('there is no stream');
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toContain('event: hello');
    await admin.call('DELETE', `/teams/${own.teamId}/members/${person.id}`);
    const startMs = performance.now();
    expect((await person.call('GET', '/projects')).status).toBe(403);
    admin.advanceClock(1000);
    expect(await next()).toContain('access_changed');
    expect(performance.now() - startMs).toBeLessThan(1000);
  });
});
