import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidConfig } from './config-problem';
import { readSources } from './read-sources';

const folder = mkdtempSync(join(tmpdir(), 'llm0-sources-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function read(text: string) {
  const path = join(folder, `${crypto.randomUUID()}.yaml`);
  await Bun.write(path, text);
  const [source] = await readSources(path);
  if (source === undefined) throw new Error('no source');
  return source;
}

test('amounts of money stay as written, other numbers are numbers', async () => {
  const { value } = await read(
    'a_usd: 8999999.999999999\nb_usd_per_million: 1e-7\ncount: 1.50\nc_usd: null\nd_usd: "1"',
  );
  expect(value).toEqual({
    ...{ a_usd: '8999999.999999999', b_usd_per_million: '1e-7', count: 1.5, c_usd: null, d_usd: '1' },
  });
});

test('lines are those of the deepest part there is, through anchors and merges too', async () => {
  const source = await read(
    'base: &base\n  cap: 1\nlist:\n  - <<: *base\n    name: a\n  - *base\n  - {name: c,\n     cap: 2}\n',
  );
  const lineOf = (...path: (string | number)[]) => source.lineOf(path);
  expect(source.value).toMatchObject({ list: [{ name: 'a', cap: 1 }, { cap: 1 }, { name: 'c', cap: 2 }] });
  expect([lineOf('base', 'cap'), lineOf('list', 0, 'name'), lineOf('list', 2, 'cap')]).toEqual([2, 5, 8]);
  expect([lineOf(), lineOf('none'), lineOf('list', 0, 'cap'), lineOf('list', 1, 'cap')]).toEqual([1, 1, 4, 2]);
});

test.each([
  'a: "sk-secret',
  'a: 1\nb: [1, sk-secret',
  'a: 1\n b: sk-secret\n',
  'a: 1\na: sk-secret',
  '['.repeat(5000),
  'a: &a [1]\nb: *missing',
])('no YAML: one problem with a line, which quotes nothing', async (text) => {
  const error = await read(text).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidConfig);
  const { problems, message } = error as InvalidConfig;
  expect(problems).toHaveLength(1);
  expect(problems[0]?.line).toBeGreaterThan(0);
  expect(message).not.toContain('sk-secret');
});

test('a merge of nothing that could be merged is said as that', async () => {
  await expect(read('a: {<<: ""}')).rejects.toThrow('"<<"');
  await expect(read('['.repeat(5000))).rejects.toThrow(InvalidConfig);
});

test('a file or folder that is not there, and a folder without files, is said', async () => {
  for (const path of [join(folder, 'none.yaml'), join(folder, 'none/')]) {
    await expect(readSources(path)).rejects.toThrow('cannot be read');
  }
  const empty = mkdtempSync(join(folder, 'empty-'));
  await expect(readSources(empty)).rejects.toThrow('has no .yaml');
});
