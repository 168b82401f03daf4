import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type ImportUnderTest, openImport } from '../litellm/import.fixture';

const GIVEN = `llm0_admin_${'0123456789ab'.repeat(4)}`;
const ENV = { GIVEN_TOKEN: GIVEN };

describe('admin tokens of a file', () => {
  let gateway: ImportUnderTest;
  beforeAll(async () => {
    gateway = await openImport(ENV);
  }, 60_000);
  afterAll(() => gateway.close());

  const uniqueName = () => `t${crypto.randomUUID().slice(0, 8)}`;
  const run = async (verb: string, tokens: readonly object[], more: readonly string[] = [], env = {}) => {
    const path = join(gateway.folder, 'tokens.yaml');
    await Bun.write(path, JSON.stringify({ version: 1, tokens }));
    return gateway.command([verb, '-f', path, '--name', 'tokens', ...more], { ...ENV, ...env });
  };
  const named = async (name: string) =>
    (await gateway.read('/tokens?limit=1000')).data.filter((token) => token.name === name);
  const opens = async (token: string) =>
    (await gateway.fetch('http://gateway.test/v1/projects', { headers: { authorization: `Bearer ${token}` } })).status;

  test('a token is created once, and its file has the secret', async () => {
    const name = uniqueName();
    const wanted = [
      { name, role: 'viewer', expires_at: '2099-01-01T00:00:00Z', secret: { write_to: `tokens/${name}` } },
    ];
    expect((await run('plan', wanted)).err).toContain('1 to create');
    expect(await named(name)).toEqual([]);
    expect(await run('apply', wanted)).toMatchObject({ code: 0 });
    const path = join(gateway.folder, 'tokens', name);
    const secret = (await Bun.file(path).text()).trim();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await named(name)).toMatchObject([{ role: 'viewer', can_read_bodies: false, prefix: secret.slice(0, 17) }]);
    expect(await opens(secret)).toBe(200);
    expect((await run('apply', wanted)).err).toBe('0 created, 0 changed, 0 deleted, 1 unchanged');
  });

  test('role, expiry and access to prompts change in place', async () => {
    const name = uniqueName();
    const secret = { write_to: `tokens/${name}` };
    await run('apply', [{ name, secret }]);
    const [before] = await named(name);
    const changed = { name, secret, role: 'viewer', can_read_bodies: true, expires_at: '2099-01-01T00:00:00Z' };
    expect((await run('apply', [changed])).err).toContain('1 changed');
    expect(await named(name)).toMatchObject([{ id: before?.id, role: 'viewer', can_read_bodies: true }]);
    expect((await run('apply', [{ ...changed, can_read_bodies: null }])).err).toContain('1 changed');
    expect(await named(name)).toMatchObject([{ role: 'viewer', can_read_bodies: false }]);
    expect((await run('plan', [{ ...changed, can_read_bodies: null }])).code).toBe(0);
  });

  test('a given secret opens; once revoked it stays useless, and an export has none', async () => {
    const name = uniqueName();
    const wanted = [{ name, secret: { env: 'GIVEN_TOKEN' } }];
    const applied = await run('apply', wanted);
    expect([applied.code, applied.out]).toEqual([0, expect.not.stringContaining(GIVEN)]);
    expect(await opens(GIVEN)).toBe(200);
    const exported = join(gateway.folder, 'exported.yaml');
    await gateway.command(['export', '-f', exported]);
    const text = await Bun.file(exported).text();
    expect(text).toContain(`write_to: tokens/${name}`);
    expect(text).not.toContain(GIVEN);
    expect((await gateway.command(['plan', '-f', exported])).code).toBe(0);
    const [token] = await named(name);
    await gateway.call(`/tokens/${token?.id}`, { method: 'DELETE' });
    expect((await run('apply', wanted)).err).toContain('existed and was revoked');
    expect(await opens(GIVEN)).toBe(401);
  });

  test('a new token needs a secret of its form', async () => {
    expect((await run('plan', [{ name: 'a' }])).err).toContain('is required to create the token');
    const wrong = await run('plan', [{ name: 'a', secret: { env: 'WRONG' } }], [], { WRONG: 'llm0_live_0' });
    expect(wrong.err).toContain('must hold llm0_admin_ and 48 random');
    expect((await run('plan', [{ name: 'a', token: GIVEN }])).err).toContain('use the field secret');
    const twice = [
      { name: 'a', secret: { write_to: 'x' } },
      { name: 'b', secret: { write_to: 'x' } },
    ];
    expect((await run('plan', twice)).err).toContain('belongs to the token a too');
  });

  test('the token that applies neither deletes nor locks out itself', async () => {
    const [own, other] = [uniqueName(), uniqueName()];
    const tokens = [own, other].map((name) => ({ name, secret: { write_to: `tokens/${name}` } }));
    await run('apply', tokens);
    const secret = (await Bun.file(join(gateway.folder, 'tokens', own)).text()).trim();
    const as = { ADMIN_TOKEN: secret };
    const viewer = await run('apply', [{ ...tokens[0], role: 'viewer' }], [], as);
    expect([viewer.code, viewer.err]).toEqual([1, expect.stringContaining('this apply uses the token')]);
    const past = await run('plan', [{ ...tokens[0], expires_at: '2020-01-01T00:00:00Z' }], [], as);
    expect(past.err).toContain('this apply uses the token');
    const pruned = await run('apply', [], ['--prune'], as);
    expect(pruned.err).toContain(`token ${own} stays: this apply uses it`);
    expect([await named(own), await named(other)]).toMatchObject([[{ is_current: false }], []]);
    expect(await opens(secret)).toBe(200);
    // Another token may.
    expect((await run('apply', [], ['--prune'])).err).toContain('1 deleted');
    expect(await opens(secret)).toBe(401);
  });
});
