import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ImportUnderTest, openImport, type Told } from '../litellm/import.fixture';

const GIVEN_KEY = `llm0_live_${'0123456789abcdef'.repeat(4)}`;
const ENV = {
  ROUTER_KEY: 'sk-router-0000000001',
  TRACKER_TOKEN: 'tracker-token-000001',
  HOOK_URL: 'http://127.0.0.1:9/hook/very-secret',
  SHOP_KEY: GIVEN_KEY,
};

/** All kinds; `name` keeps tests apart. */
const everything = (name: string) => `
version: 1
providers:
  - name: ${name}
    base_url: http://127.0.0.1:9/v1
    headers: {X-Team: search, X-Auth: env:ROUTER_KEY}
    models:
      - {model: small, input_usd_per_million: 0.10, output_usd_per_million: 0.40}
    keys:
      - {name: main, key: env:ROUTER_KEY}
      - {name: shop, key: env:ROUTER_KEY, project_id: ${name}-shop, is_active: false}
models:
  - {provider: openai, model: ${name}-model, input_usd_per_million: 1.5, output_usd_per_million: "6"}
chains:
  - name: ${name}
    targets: [{provider: ${name}, model: small}]
aliases:
  - alias: ${name}-fast
    strategy: weighted
    targets: [{provider: ${name}, model: small, weight: 3}, {provider: openai, model: gpt-4o}]
mcp_servers:
  - {alias: ${name}, url: "http://127.0.0.1:9/mcp", is_active: false, auth: {type: bearer, token: env:TRACKER_TOKEN}}
backends:
  - {name: ${name}, url: "http://127.0.0.1:9", price_per_request_usd: 0.000000001, cache: {ttl_seconds: 30}}
alerts:
  - {name: ${name}, kind: spend, threshold: 5, webhook_url: env:HOOK_URL, project_id: ${name}-shop}
teams:
  - {name: ${name}-team, daily_budget_usd: 40, monthly_cap_usd: 900.50}
projects:
  - name: ${name}-shop
    team_id: ${name}-team
    monthly_cap_usd: 12.50
    default_output_tokens: null
    labels: {team: shop, urgent: "yes", country: "no", size: "0o10"}
    daily_budget_usd: 2.50
    team_share_usd: 300.25
    team_overdraft: false
    label_budgets:
      - {label: feature, value: search, daily_usd: 1.0, monthly_usd: 20}
    aliases:
      - {alias: cheap, targets: [{provider: ${name}, model: small}]}
    guardrails:
      mode: enforce
      rules: [{name: no-cards, on: both, check: {type: pii, kinds: [card]}, action: redact}]
    customers:
      - {customer_id: "acme/1", daily_spend_limit_usd: 1, model_limits: {small: {requests_per_day: 5}}}
    keys:
      - {name: web, secret: {write_to: keys/web}, rate_limit_per_minute: 100, expires_at: "2099-01-01T00:00:00+01:00"}
      - {name: off, secret: {write_to: keys/off}, is_active: false}
`;

describe('a gateway as a file', () => {
  let gateway: ImportUnderTest;
  beforeAll(async () => {
    gateway = await openImport(ENV);
  }, 60_000);
  afterAll(() => gateway.close());

  const uniqueName = () => `c${crypto.randomUUID().slice(0, 8)}`;
  const write = async (text: string, name = `${uniqueName()}.yaml`) => {
    const path = join(gateway.folder, name);
    await Bun.write(path, text);
    return path;
  };
  const run = (verb: string, path: string, ...more: readonly string[]): Promise<Told> =>
    gateway.command([verb, '-f', path, '--name', 'test', ...more]);
  const json = async (verb: string, path: string, ...more: readonly string[]) => {
    const { out, err } = await run(verb, path, '--json', ...more);
    if (out === '') throw new Error(err);
    return JSON.parse(out);
  };
  const changes = async () => (await gateway.read('/audit?limit=1000')).data.length;
  const projectsNamed = async (name: string) =>
    (await gateway.read('/projects?limit=1000')).data.filter((project) => project.name === name);

  test('plan shows it, apply makes it, and a second apply writes nothing', async () => {
    const name = uniqueName();
    const path = await write(everything(name));
    const planned = await run('plan', path);
    expect([planned.code, planned.out]).toEqual([2, expect.stringContaining(`${name}-shop/web`)]);
    expect(planned.err).toContain('17 to create, 0 to change, 0 to delete, 0 unchanged');
    const applied = await run('apply', path);
    expect([applied.code, applied.err]).toEqual([0, '17 created, 0 changed, 0 deleted, 0 unchanged']);
    for (const secret of Object.values(ENV)) expect(`${planned.out}${applied.out}`).not.toContain(secret);
    const before = await changes();
    expect(await run('plan', path)).toMatchObject({ code: 0, err: expect.stringContaining('17 unchanged') });
    expect(await run('apply', path)).toMatchObject({ code: 0 });
    expect(await changes()).toBe(before);
    const [project] = await projectsNamed(`${name}-shop`);
    expect(project).toMatchObject({ monthly_cap_usd: 12.5, default_output_tokens: 4096, daily_budget_usd: 2.5 });
    expect(project).toMatchObject({ team_share_usd: 300.25, team_overdraft: false });
    const team = await gateway.read(`/teams/${project?.team_id}`);
    expect(team).toMatchObject({
      name: `${name}-team`,
      daily_budget_usd: 40,
      weekly_budget_usd: null,
      monthly_cap_usd: 900.5,
    });
    const { data: keys } = await gateway.read(`/projects/${project?.id}/keys`);
    const secret = (await Bun.file(join(gateway.folder, 'keys/web')).text()).trim();
    expect(statSync(join(gateway.folder, 'keys/web')).mode & 0o777).toBe(0o600);
    expect(keys.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1))).toMatchObject([
      { name: 'off', is_active: false },
      { name: 'web', prefix: secret.slice(0, 16) },
    ]);
    await rm(join(gateway.folder, 'keys'), { recursive: true });
  });

  test('plan and apply tell each changed field, old and new', async () => {
    const name = uniqueName();
    const path = await write(`version: 1\nprojects: [{name: ${name}, monthly_cap_usd: 1, max_customers: 5}]`);
    await run('apply', path);
    await write(
      `version: 1\nprojects: [{name: ${name}, monthly_cap_usd: 2.5, max_customers: null}]`,
      path.split('/').pop(),
    );
    const fields = [
      { field: 'monthly_cap_usd', old: '1', new: '2.5' },
      { field: 'max_customers', old: 5, new: null },
    ];
    expect(await json('plan', path)).toMatchObject({
      summary: { create: 0, change: 1, delete: 0, unchanged: 0 },
      changes: [{ action: 'change', kind: 'project', name, fields }],
    });
    expect((await run('plan', path)).out).toMatch(
      new RegExp(`^change +project +${name} +monthly_cap_usd: 1 → 2.5;`, 'm'),
    );
    expect(await json('apply', path)).toMatchObject({ error: null, changes: [{ outcome: 'done', fields }] });
    expect(await json('plan', path)).toMatchObject({ changes: [], summary: { unchanged: 1 } });
  });

  test('a secret that changed is sent again, and one that somebody else changed too', async () => {
    const name = uniqueName();
    const text = (header: string) =>
      `version: 1\nproviders: [{name: ${name}, base_url: "http://127.0.0.1:9/v1", headers: {X-Key: ${header}}}]`;
    const path = await write(text('env:ROUTER_KEY'));
    await run('apply', path);
    const rotated = { ...ENV, ROUTER_KEY: 'sk-router-0000000002' };
    const told = await gateway.command(['plan', '-f', path, '--name', 'test'], rotated);
    expect([told.code, told.out]).toEqual([2, expect.stringContaining('headers: (secret) → (secret)')]);
    expect((await gateway.command(['apply', '-f', path, '--name', 'test'], rotated)).code).toBe(0);
    expect((await gateway.command(['plan', '-f', path, '--name', 'test'], rotated)).code).toBe(0);
    await gateway.call(`/providers/${name}`, { method: 'PATCH', body: '{"headers":{"X-Key":"other"}}' });
    expect((await gateway.command(['plan', '-f', path, '--name', 'test'], rotated)).code).toBe(2);
  });

  test('a given secret is the key; one that an interrupted apply wrote is used', async () => {
    const name = uniqueName();
    const written = `llm0_live_${'a1'.repeat(32)}`;
    const target = await write(`${written}\n`, `${name}.key`);
    const keys = `[{name: given, secret: {env: SHOP_KEY}}, {name: written, secret: {write_to: ${target}}}]`;
    const path = await write(`version: 1\nprojects: [{name: ${name}, keys: ${keys}}]`);
    expect((await run('apply', path)).code).toBe(0);
    const rows = await gateway.database.client<{ name: string; hash: string }[]>`
      select k.name, k.key_hash as hash from api_keys k join projects p on p.id = k.project_id where p.name = ${name}`;
    const hashOf = (text: string) => Bun.CryptoHasher.hash('sha256', text, 'hex');
    expect(Object.fromEntries(rows.map(({ name: of, hash }) => [of, hash]))).toEqual({
      given: hashOf(GIVEN_KEY),
      written: hashOf(written),
    });
    expect((await run('plan', path)).code).toBe(0);
  });

  const invalid: readonly (readonly [why: string, text: string, expected: RegExp])[] = [
    [
      'an unknown field',
      'version: 1\nprojects:\n  - name: x\n    colour: red',
      /:4: projects\.0\.colour: there is no such field/,
    ],
    ['an unknown section', 'version: 1\nproject: []', /:2: project: there is no such field/],
    ['a wrong type', 'version: 1\nprojects:\n  - name: x\n    strict_caps: yes', /:4: projects\.0\.strict_caps: /],
    [
      'a nested wrong type',
      'version: 1\nprojects:\n  - name: x\n    keys:\n      - name: k\n        secret: {write_to: k}\n        rate_limit_per_minute: -1',
      /:7: projects\.0\.keys\.0\.rate_limit_per_minute: must be at least 1/,
    ],
    ['a missing field', 'version: 1\nbackends:\n  - name: x', /:3: backends\.0\.url: is required/],
    ['no version', 'projects: []', /: version: must be 1/],
    ['another version', 'version: 2', /:1: version: must be 1/],
    [
      'a double project',
      'version: 1\nprojects:\n  - name: x\n  - name: x',
      /:4: projects\.1: project "x" is given twice; first in .*:3$/m,
    ],
    ['a double field', 'version: 1\nversion: 1', /:2: the field is given twice/],
    ['no YAML', 'version: 1\nprojects: [', /:\d+: is not YAML/],
    ['no list', 'version: 1\nprojects: {}', /:2: projects: /],
    [
      'a secret in the file',
      'version: 1\nproviders:\n  - name: openai\n    key: sk-abc',
      /:4: providers\.0\.key: must be a reference/,
    ],
    [
      'a variable that is not set',
      'version: 1\nproviders:\n  - name: openai\n    key: env:NOT_SET',
      /:4: providers\.0\.key: the variable NOT_SET is not set/,
    ],
    [
      'a key without a secret',
      'version: 1\nprojects:\n  - name: x\n    keys:\n      - name: k',
      /:5: projects\.0\.keys\.0\.secret: is required to create/,
    ],
    [
      'a secret that is no key',
      'version: 1\nprojects:\n  - name: x\n    keys: [{name: k, secret: {env: ROUTER_KEY}}]',
      /secret: the variable ROUTER_KEY must hold llm0_live_/,
    ],
    [
      'an unknown provider',
      'version: 1\naliases:\n  - alias: x\n    targets: [{provider: nowhere, model: y}]',
      /:4: aliases\.0\.targets\.0\.provider: there is no provider "nowhere"/,
    ],
    [
      'an unknown project',
      'version: 1\nalerts:\n  - {name: x, kind: spend, threshold: 1, webhook_url: env:HOOK_URL, project_id: nowhere}',
      /:3: alerts\.0\.project_id: there is no project "nowhere"/,
    ],
    [
      'an unknown team',
      'version: 1\nprojects: [{name: x, team_id: nowhere}]',
      /projects\.0\.team_id: there is no team "nowhere"/,
    ],
    [
      'a private address',
      'version: 1\nproviders:\n  - name: x\n    base_url: http://10.1.2.3/v1',
      /:4: providers\.0\.base_url: 400 invalid_request/,
    ],
    [
      'a cap that would not hold',
      'version: 1\nprojects:\n  - {name: x, strict_caps: true, on_store_failure: open}',
      /projects\.0\.on_store_failure: must not be "open"/,
    ],
  ];
  test.each(invalid)('%s: the error names line and path, and nothing changes', async (_why, text, expected) => {
    const before = await changes();
    // A valid neighbour is not applied either.
    const path = join(gateway.folder, uniqueName());
    await mkdir(path);
    await Bun.write(join(path, 'a.yaml'), `version: 1\nprojects: [{name: neighbour}]`);
    await Bun.write(join(path, 'b.yaml'), text);
    for (const verb of ['plan', 'apply']) {
      const told = await run(verb, path);
      expect([told.code, told.err]).toEqual([1, expect.stringMatching(expected)]);
      expect(told.err).toContain('b.yaml:');
      expect(`${told.out}${told.err}`).not.toContain('sk-abc');
    }
    expect(await changes()).toBe(before);
    expect(await projectsNamed('neighbour')).toEqual([]);
  });

  test('a folder is one configuration', async () => {
    const name = uniqueName();
    const path = join(gateway.folder, name);
    await mkdir(path);
    await Bun.write(
      join(path, 'b.yml'),
      `version: 1\nprojects: [{name: ${name}, aliases: [{alias: a, targets: [{provider: ${name}, model: m}]}]}]`,
    );
    await Bun.write(
      join(path, 'a.json'),
      JSON.stringify({ version: 1, providers: [{ name, base_url: 'http://127.0.0.1:9/v1' }] }),
    );
    expect((await run('apply', path)).err).toContain('3 created');
    expect(await readdir(path)).toEqual(['a.json', 'b.yml']);
  });

  test('killed halfway and run again, it ends the same', async () => {
    const name = uniqueName();
    const names = Array.from({ length: 12 }, (_, index) => `{name: k${index}, secret: {write_to: ${name}/k${index}}}`);
    const path = await write(`version: 1\nprojects: [{name: ${name}, keys: [${names}]}]`);
    let writes = 0;
    const dying = (async (input: string, init?: RequestInit) => {
      const isKey = init?.method === 'POST' && String(input).endsWith('/keys');
      if (isKey && ++writes > 5) throw new Error('killed');
      const answer = await gateway.fetch(input, init);
      // The gateway has the key, and its answer is lost.
      if (isKey && writes === 5) throw new Error('killed');
      return answer;
    }) as unknown as typeof fetch;
    const killed = await gateway.command(['apply', '-f', path, '--name', 'test'], ENV, dying);
    expect([killed.code, killed.err]).toEqual([1, expect.stringContaining('run it again')]);
    expect((await run('apply', path)).code).toBe(0);
    const [project] = await projectsNamed(name);
    const { data: keys } = await gateway.read(`/projects/${project?.id}/keys?limit=1000`);
    expect(keys.map((key) => String(key.name)).sort()).toEqual(names.map((_, index) => `k${index}`).sort());
    for (const key of keys) {
      const secret = await Bun.file(join(gateway.folder, name, String(key.name))).text();
      expect(secret.startsWith(String(key.prefix))).toBe(true);
    }
    expect((await run('plan', path)).code).toBe(0);
  });

  test('of two applies at once one waits', async () => {
    const name = uniqueName();
    const path = await write(`version: 1\nprojects: [{name: ${name}}]`);
    const told = await Promise.all([run('apply', path), run('apply', path)]);
    expect(told.map(({ code }) => code)).toEqual([0, 0]);
    expect(told.map(({ err }) => err).join('\n')).toContain('Waiting for it.');
    expect(await projectsNamed(name)).toHaveLength(1);
  });

  test('what a gateway exports leads to the same gateway, and holds no secret', async () => {
    const name = uniqueName();
    await run('apply', await write(everything(name)));
    const path = join(gateway.folder, `${name}-exported.yaml`);
    expect(await gateway.command(['export', '-f', path])).toMatchObject({ code: 0 });
    const text = await Bun.file(path).text();
    expect(text).toContain(`${name}-shop`);
    expect(text).toMatch(/# key: env:NAME/);
    // YAML 1.1 would read them as truth values.
    expect(text).toContain('urgent: "yes"');
    expect(text).toContain('country: "no"');
    for (const secret of Object.values(ENV)) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/llm0_live_/);
    expect(await run('plan', path)).toMatchObject({ code: 0 });
    expect((await gateway.command(['export'])).out).toBe(text.trimEnd());
  });
});
