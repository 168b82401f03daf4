import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { JsonObject } from '@llm0/core/chat/json';
import { type ImportUnderTest, openImport } from '../litellm/import.fixture';

const NAMES = ['z', 'a', 'm', 'b', 'y', 'c', 'x', 'd', 'w', 'e', 'v', 'f'];
let gateway: ImportUnderTest;
beforeAll(async () => {
  gateway = await openImport({ ROUTER_KEY: 'sk-router-0000000001' });
}, 60_000);
afterAll(() => gateway.close());

/** Applies a provider with these keys, and returns the names of its stored keys in the order of use. */
async function apply(provider: string, names: readonly string[], more: readonly string[] = []) {
  const path = join(gateway.folder, `${provider}.yaml`);
  const keys = names.map((name) => `      - {name: ${name}, key: env:ROUTER_KEY}\n`).join('');
  await Bun.write(
    path,
    `version: 1\nproviders:\n  - name: ${provider}\n    base_url: http://127.0.0.1:9/v1\n    keys:\n${keys}`,
  );
  const told = await gateway.command(['apply', '-f', path, '--name', provider, ...more]);
  expect(told.code, told.err).toBe(0);
  return { told, order: await orderOf(provider) };
}

const providerOf = async (provider: string) => (await gateway.read(`/providers/${provider}`)) as unknown as JsonObject;
const orderOf = async (provider: string) =>
  ((await providerOf(provider)).keys as readonly JsonObject[]).map(({ name }) => String(name));

test('keys are used in the order of the file, also after it changes', async () => {
  expect((await apply('order', NAMES)).order).toEqual(NAMES);
  expect((await apply('order', NAMES)).told.err).toContain('0 changed');
  const reversed = NAMES.toReversed();
  expect((await apply('order', reversed)).order).toEqual(reversed);
  const inFront = ['new', ...reversed];
  expect((await apply('order', inFront)).order).toEqual(inFront);
  const fewer = inFront.slice(2);
  expect((await apply('order', fewer, ['--prune'])).order).toEqual(fewer);
});

test('keys of the file come before others, and an export keeps the order', async () => {
  await apply('mixed', ['b', 'a']);
  const others = ['first', 'second', 'third'];
  for (const name of others) {
    const body = JSON.stringify({ name, key: `sk-${name}-0000000001` });
    expect((await gateway.call('/providers/mixed/keys', { method: 'POST', body })).status).toBe(201);
  }
  expect(await orderOf('mixed')).toEqual(['b', 'a', ...others]);
  const { out } = await gateway.command(['export']);
  const exported = Bun.YAML.parse(out) as { readonly providers: readonly JsonObject[] };
  const mixed = exported.providers.find(({ name }) => name === 'mixed');
  expect(mixed?.keys).toEqual(['b', 'a', ...others].map((name) => ({ name, is_active: true })));
});
