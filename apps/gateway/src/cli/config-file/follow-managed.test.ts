import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type ImportUnderTest, openImport } from '../litellm/import.fixture';

const KEY = `llm0_live_${'0123456789abcdef'.repeat(4)}`;
const kept: Record<string, object> = {};
let reads: string[] = [];
const vault = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === 'POST') {
      const { data, options } = (await request.json()) as { data: object; options: { cas: number } };
      if (options.cas !== (kept[pathname] === undefined ? 0 : 7)) return new Response('{}', { status: 400 });
      kept[pathname] = data;
      return Response.json({ data: {} });
    }
    reads.push(pathname);
    const data = kept[pathname];
    return data === undefined
      ? Response.json({ errors: ['no such secret'] }, { status: 404 })
      : Response.json({ data: { data, metadata: { version: 7 } } });
  },
});
const ENV = { VAULT_ADDR: `http://127.0.0.1:${vault.port}`, VAULT_TOKEN: 'root' };
let gateway: ImportUnderTest;

beforeAll(async () => {
  gateway = await openImport(ENV);
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await vault.stop(true);
});

async function run(verb: string, text: string) {
  const path = join(gateway.folder, 'managed.yaml');
  await Bun.write(path, text);
  reads = [];
  return gateway.command([verb, '-f', path]);
}

const file = (path = 'llm') => `
version: 1
providers:
  - {name: openai, key: "vault:secret/data/llm#openai"}
alerts:
  - {name: spend, kind: spend, threshold: 5, webhook_url: "vault:secret/data/${path}#hook"}
projects:
  - name: managed
    keys: [{name: web, secret: {reference: "vault:secret/data/llm#web"}}]
`;

test('secrets of a manager: the gateway follows a provider key, the apply all others, and a rotation is a change', async () => {
  kept['/v1/secret/data/llm'] = { hook: 'http://127.0.0.1:9/hook/one', web: KEY };
  expect(await run('apply', file())).toMatchObject({ code: 0 });
  expect(reads).toEqual(['/v1/secret/data/llm', '/v1/secret/data/llm']);
  const [key] = (await gateway.read('/providers/openai/keys')).data;
  expect(key).toMatchObject({ last_characters: 'enai', name: 'default' });
  const project = (await gateway.read('/projects')).data.find(({ name }) => name === 'managed');
  expect((await gateway.read(`/projects/${project?.id}/keys`)).data).toMatchObject([{ prefix: KEY.slice(0, 16) }]);
  expect(await run('plan', file())).toMatchObject({ code: 0 });
  kept['/v1/secret/data/llm'] = { hook: 'http://127.0.0.1:9/hook/two', web: KEY };
  const planned = await run('plan', file());
  expect([planned.code, planned.out]).toEqual([2, expect.stringContaining('webhook_url: (secret) → (secret)')]);
  expect(`${planned.out}${planned.err}`).not.toContain('hook/');
});

test('one that is not there is an error with its line, and nothing changes', async () => {
  const told = await run('apply', file('gone'));
  expect([told.code, told.err]).toEqual([
    1,
    expect.stringMatching(/:6: alerts\.0\.webhook_url: vault:secret.*has no secret/),
  ]);
});

test('a new key goes to the manager before the gateway knows it; one of an interrupted apply is used', async () => {
  kept['/v1/secret/data/team'] = { other: 'stays' };
  const keys = (...names: string[]) =>
    names.map((name) => `{name: ${name}, secret: {write_to: "vault:secret/data/team#${name}"}}`).join(', ');
  const text = (...names: string[]) => `version: 1\nprojects: [{name: written, keys: [${keys(...names)}]}]`;
  expect(await run('apply', text('one'))).toMatchObject({ code: 0 });
  const team = () => kept['/v1/secret/data/team'] as Record<string, string>;
  expect(team()).toEqual({ other: 'stays', one: expect.stringMatching(/^llm0_live_[0-9a-f]{64}$/) });
  const project = (await gateway.read('/projects')).data.find(({ name }) => name === 'written');
  const prefixes = async () => (await gateway.read(`/projects/${project?.id}/keys`)).data.map(({ prefix }) => prefix);
  expect((await prefixes()).map(String)).toEqual([String(team().one).slice(0, 16)]);
  expect(await run('plan', text('one'))).toMatchObject({ code: 0 });
  const interrupted = `llm0_live_${'b2'.repeat(32)}`;
  kept['/v1/secret/data/team'] = { ...team(), two: interrupted };
  expect(await run('apply', text('one', 'two'))).toMatchObject({ code: 0 });
  expect([await prefixes(), team().two]).toEqual([expect.arrayContaining([interrupted.slice(0, 16)]), interrupted]);
  const refused = await run('apply', text('one', 'other'));
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('holds something else than a key')]);
  expect(team().other).toBe('stays');
  expect(await run('apply', text('new').replace('secret/data/team', 'secret/data/empty'))).toMatchObject({ code: 0 });
  expect(Object.keys(kept['/v1/secret/data/empty'] ?? {})).toEqual(['new']);
});
