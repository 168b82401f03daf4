import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashSecret } from '@llm0/core/keys/api-key';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { findPrincipalByHash } from '@llm0/drizzle/queries/access/find-principal';
import { saveGuardrails } from '@llm0/drizzle/queries/access/guardrails';
import { listRecentChanges } from '@llm0/drizzle/queries/access/recent-changes';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
const NO_CARDS = { name: 'no cards', on: 'both', check: { type: 'pii', kinds: ['card'] }, action: 'redact' };
const shownRule = { ...NO_CARDS, on_error: 'block' };

describe.each(ON_ONE_DATABASE)('guardrails on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const open = async () => {
    const { id } = await admin.createProject();
    const at = `/projects/${id}/guardrails`;
    return { id, at, put: (body: object) => admin.call('PUT', at, { body }) };
  };

  test('none were saved: nothing is asked, version 0', async () => {
    const { at } = await open();
    const answer = await admin.call('GET', at);
    expect([answer.status, answer.body]).toEqual([
      200,
      { mode: 'off', rules: [], pseudonym_scope: 'request', version: 0, holds_streams: [] },
    ]);
  });

  test('a viewer sees scheme and host of webhooks alone, wherever rules are shown', async () => {
    const { id, at } = await open();
    const url = 'https://hooks.example.com:8443/T0/secret?token=1';
    const check = { type: 'webhook', url, timeoutMs: 500 } as const;
    const rules = [{ name: 'ask', on: 'input', check, action: 'block', onError: 'block' }] as const;
    const { db } = admin.database;
    await saveGuardrails(db, { projectId: id, createdBy: 'a', mode: 'enforce', rules, pseudonymScope: 'request' });
    const made = await admin.call('POST', `/projects/${id}/keys`, { body: { name: 'k' } });
    await keyRows.update(db, { projectId: id, id: made.body.id }, { guardrailRules: rules });
    const { token } = (await admin.call('POST', '/tokens', { body: { name: `v ${id}`, role: 'viewer' } })).body;
    for (const path of [at, `${at}/versions`, `/projects/${id}/keys`, `/projects/${id}/keys/${made.body.id}`]) {
      const seen = await admin.call('GET', path, { token });
      expect([path, seen.status]).toEqual([path, 200]);
      expect([path, seen.text.includes('"https://hooks.example.com:8443/…"')]).toEqual([path, true]);
      expect(seen.text).not.toContain('secret?token');
      expect((await admin.call('GET', path)).text).toContain(url);
    }
  });

  test('each save is a version, and the project knows that it changed', async () => {
    const { id, at, put } = await open();
    const { key: secret } = (await admin.call('POST', `/projects/${id}/keys`, { body: { name: 'k' } })).body;
    const found = () => findPrincipalByHash(admin.database.db, hashSecret(secret));
    expect((await found())?.policy).toBeNull();
    const before = (await found())?.project.version ?? 0;
    const versions: unknown[] = [];
    const { hotStore } = admin.services;
    const setVersions = hotStore.setVersions.bind(hotStore);
    hotStore.setVersions = async (...args) => {
      versions.push(args);
      await setVersions(...args);
    };
    const saved = await put({ mode: 'enforce', rules: [NO_CARDS], version: 0 });
    hotStore.setVersions = setVersions;
    expect(saved.status).toBe(200);
    const shown = { mode: 'enforce', rules: [shownRule], pseudonym_scope: 'request', holds_streams: [] };
    expect(saved.body).toEqual({ ...shown, version: 1 });
    expect(versions).toEqual([[id, before + 1, []]]);
    expect((await found())?.project.version).toBe(before + 1);
    expect((await found())?.policy).toMatchObject({ mode: 'enforce', version: 1, rules: [{ name: 'no cards' }] });
    expect((await admin.call('GET', at)).body).toEqual(saved.body);
    expect((await put({ mode: 'shadow', rules: [], version: 1 })).body.version).toBe(2);
    const changed = await listRecentChanges(admin.database.db, Date.now() - 60_000);
    expect(changed.projects.find((project) => project.id === id)?.version).toBe(before + 2);
  });

  test('a conflicting change gets 412', async () => {
    const { put, at } = await open();
    await put({ mode: 'enforce', rules: [NO_CARDS], version: 0 });
    const late = await put({ mode: 'off', version: 0 });
    expect([late.status, late.body.error.code, late.body.error.param]).toEqual([409, 'conflict', 'version']);
    expect((await admin.call('GET', at)).body.mode).toBe('enforce');
  });

  test('a shown object can be sent back with its tag', async () => {
    const { at, put } = await open();
    for (const mode of ['enforce', 'shadow']) {
      const now = await admin.call('GET', at);
      const headers = { 'if-match': now.headers.get('etag') ?? '' };
      const saved = await admin.call('PUT', at, { body: { ...now.body, rules: [NO_CARDS], mode }, headers });
      expect([saved.status, saved.body.mode]).toEqual([200, mode]);
      expect((await admin.call('PUT', at, { body: { mode: 'off' }, headers })).status).toBe(412);
    }
    expect((await put({ mode: 'off' })).body.version).toBe(3);
  });

  test('one of two concurrent writers gets the conflict', async () => {
    const { put } = await open();
    const answers = await Promise.all([1, 2].map(() => put({ mode: 'enforce', rules: [NO_CARDS], version: 0 })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('an earlier version comes back as a new one', async () => {
    const { put, at } = await open();
    await put({ mode: 'enforce', rules: [NO_CARDS] });
    await put({ mode: 'off', rules: [] });
    const back = await admin.call('POST', `${at}/rollback`, { body: { version: 1 } });
    expect(back.body).toMatchObject({ version: 3, mode: 'enforce', rules: [shownRule] });
    const list = (await admin.call('GET', `${at}/versions`)).body;
    expect(list.data.map((one: { version: number; mode: string }) => [one.version, one.mode])).toEqual([
      [3, 'enforce'],
      [2, 'off'],
      [1, 'enforce'],
    ]);
    expect(list.data[0]).toMatchObject({ created_by: 'ADMIN_TOKEN', created_at: TIME });
    const page = (await admin.call('GET', `${at}/versions?limit=2`)).body;
    expect([page.data.length, page.next_cursor]).toEqual([2, '2']);
    const next = (await admin.call('GET', `${at}/versions?limit=2&cursor=2`)).body;
    expect([next.data.length, next.next_cursor]).toEqual([1, null]);
    const missing = await admin.call('POST', `${at}/rollback`, { body: { version: 99 } });
    expect(missing.status).toBe(404);
  });

  test.each([
    [{ ...NO_CARDS, check: { type: 'regex', pattern: '(a)\\1' } }, 'rules.0.check', 'RE2'],
    [{ ...NO_CARDS, check: { type: 'regex', pattern: '(?<=a)b' } }, 'rules.0.check', 'RE2'],
    [{ ...NO_CARDS, check: { type: 'what' } }, 'rules.0.check.type', ''],
    [{ ...NO_CARDS, check: { type: 'pii', kinds: ['soul'] } }, 'rules.0.check.kinds.0', ''],
    [{ ...NO_CARDS, action: 'erase' }, 'rules.0.action', ''],
    [{ ...NO_CARDS, on: 'input', action: 'retry' }, 'rules.0.action', 'answers'],
    [{ ...NO_CARDS, parts: ['hands'] }, 'rules.0.parts.0', ''],
    [{ ...NO_CARDS, name: 'a,b' }, 'rules.0.name', 'commas'],
    [{ ...NO_CARDS, name: '' }, 'rules.0.name', ''],
  ])('%j is refused with the reason', async (rule, param, reason) => {
    const { put, at } = await open();
    const answer = await put({ mode: 'enforce', rules: [rule] });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
    expect(answer.body.error.message).toContain(reason);
    expect((await admin.call('GET', at)).body.version).toBe(0);
  });

  test('two rules of one name are refused', async () => {
    const { put } = await open();
    const answer = await put({ mode: 'enforce', rules: [NO_CARDS, NO_CARDS] });
    expect([answer.status, answer.body.error.param]).toEqual([400, 'rules.1.name']);
  });

  test('a rule that needs all of an answer is named', async () => {
    const { put } = await open();
    const unbounded = { ...NO_CARDS, name: 'unbounded', check: { type: 'regex', pattern: 'begin.*end' } };
    const answer = await put({ mode: 'enforce', rules: [NO_CARDS, unbounded] });
    expect(answer.body.holds_streams).toEqual(['unbounded']);
  });

  test('changes are audited, without texts of requests', async () => {
    const { id, put } = await open();
    await put({ mode: 'enforce', rules: [NO_CARDS] });
    await put({ mode: 'off', rules: [] });
    const entries = (await admin.call('GET', `/audit?resource=guardrails&resource_id=${id}`)).body.data;
    expect(entries.map(({ action }: { action: string }) => action)).toEqual(['update', 'update']);
    expect(entries[0]).toMatchObject({ before: { mode: 'enforce', version: 1 }, after: { mode: 'off', version: 2 } });
  });

  test('a text is tried: each rule counts, none is kept from being asked', async () => {
    const { put, at } = await open();
    const rules = [
      NO_CARDS,
      { name: 'no secrets', on: 'input', check: { type: 'secrets' }, action: 'block' },
      { name: 'mail', on: 'input', check: { type: 'pii', kinds: ['email'] }, action: 'pseudonymise' },
      { name: 'answers only', on: 'output', check: { type: 'pii' }, action: 'flag' },
    ];
    await put({ mode: 'enforce', rules });
    const text = '4111 1111 1111 1111, ann@example.com, sk-proj-abcdefghijklmnop1234 and bob@example.com';
    const tried = await admin.call('POST', `${at}/try`, { body: { text, on: 'input' } });
    expect(tried.body).toEqual({
      rules: [
        { name: 'no cards', matches: 1, action: 'redact', error: null },
        { name: 'no secrets', matches: 1, action: 'block', error: null },
        { name: 'mail', matches: 2, action: 'pseudonymise', error: null },
      ],
      text: '[CARD], <EMAIL_1>, sk-proj-abcdefghijklmnop1234 and <EMAIL_2>',
      blocked_by: 'no secrets',
    });
    const own = await admin.call('POST', `${at}/try`, { body: { text: 'a dog', on: 'output', rules: [] } });
    expect(own.body).toEqual({ rules: [], text: 'a dog', blocked_by: null });
  });

  test("a key's rule is called as none of its project, whichever comes first", async () => {
    const { id, put, at } = await open();
    const keys = `/projects/${id}/keys`;
    await put({ mode: 'enforce', rules: [NO_CARDS] });
    const same = await admin.call('POST', keys, { body: { name: 'k', guardrail_rules: [NO_CARDS] } });
    expect([same.status, same.body.error.param]).toEqual([400, 'guardrail_rules.0.name']);
    const own = { ...NO_CARDS, name: 'own' };
    const key = await admin.call('POST', keys, { body: { name: 'first key', guardrail_rules: [own] } });
    const patched = await admin.call('PATCH', `${keys}/${key.body.id}`, { body: { guardrail_rules: [own, NO_CARDS] } });
    expect([patched.status, patched.body.error.param]).toEqual([400, 'guardrail_rules.1.name']);
    const saved = await put({ mode: 'enforce', rules: [NO_CARDS, own] });
    expect([saved.status, saved.body.error.param]).toEqual([400, 'rules.1.name']);
    expect(saved.body.error.message).toContain('first key');
    await admin.call('DELETE', `${keys}/${key.body.id}`);
    expect((await put({ mode: 'enforce', rules: [NO_CARDS, own] })).status).toBe(200);
    expect((await admin.call('GET', at)).body.version).toBe(2);
  });

  test('keys have rules of their own', async () => {
    const { id } = await open();
    const path = `/projects/${id}/keys`;
    const made = await admin.call('POST', path, { body: { name: 'k', guardrail_rules: [NO_CARDS] } });
    expect(made.body.guardrail_rules).toEqual([shownRule]);
    const principal = await findPrincipalByHash(admin.database.db, hashSecret(made.body.key));
    expect(principal?.key.guardrailRules).toMatchObject([{ name: 'no cards', onError: 'block' }]);
    const patch = (guardrail_rules: unknown) =>
      admin.call('PATCH', `${path}/${made.body.id}`, { body: { guardrail_rules } });
    const bad = await patch([{ ...NO_CARDS, check: { type: 'regex', pattern: '(' } }]);
    expect([bad.status, bad.body.error.param]).toEqual([400, 'guardrail_rules.0.check']);
    expect((await patch(null)).body.guardrail_rules).toBeNull();
  });

  test('a project that is not there has none', async () => {
    const at = `/projects/${crypto.randomUUID()}/guardrails`;
    for (const [method, path, body] of [
      ['GET', at, undefined],
      ['PUT', at, { mode: 'off' }],
      ['GET', `${at}/versions`, undefined],
      ['POST', `${at}/rollback`, { version: 1 }],
      ['POST', `${at}/try`, { text: 'x' }],
    ] as const) {
      expect((await admin.call(method, path, { body })).status).toBe(404);
    }
  });
});
