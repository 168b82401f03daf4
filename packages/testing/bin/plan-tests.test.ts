import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Store } from '../stores/start-test-stores';
import { choose, findTestFiles, type PlannedFile, planTests } from './plan-tests';
import { readTestOptions } from './test-options';

const ROOT = join(import.meta.dir, '../../..');

describe("derives a test file's needs from its imports", () => {
  let root: string;
  let planned: ReadonlyMap<string, PlannedFile>;
  /** Not written out: this file would be taken for one of them. */
  const [environment, bun] = ['process.env', 'Bun'];
  const FILES = {
    'pure.test.ts': `import { one } from './one';`,
    'one.ts': `export const one = 1;`,
    'far.test.ts': `import './near';`,
    'near.ts': `export * from './door';`,
    'door.ts': `export const url = ${environment}.TEST_REDIS_URL;`,
    'lazy.test.tsx': `test('x', async () => { await import('./spawns'); });`,
    'spawns.ts': `export const run = () => ${bun}.spawn(['true']);`,
    'types.test.ts': `import type { Url } from './door'; import { type Url as Other } from './door';`,
    'both.test.ts': `import './door'; const url = ${environment}.TEST_DATABASE_URL;`,
    'node_modules/their.test.ts': '',
  };
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'llm0-plan-'));
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    planned = new Map(planTests(root).map((file) => [file.path, file]));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test.each<[string, boolean, Store[]]>([
    ['pure.test.ts', true, []],
    ['far.test.ts', false, ['redis']],
    ['lazy.test.tsx', false, []],
    ['both.test.ts', false, ['redis', 'postgres']],
  ])('%s', (path, isUnit, stores) => {
    const file = planned.get(path);
    expect([file?.isUnit, [...(file?.stores ?? [])]]).toEqual([isUnit, stores]);
  });

  test('imports of types load nothing; files of others are not ours', () => {
    expect(planned.get('types.test.ts')?.isUnit).toBe(true);
    expect(planned.has('node_modules/their.test.ts')).toBe(false);
    expect([...(planned.get('far.test.ts')?.loads ?? [])].sort()).toEqual(['door.ts', 'far.test.ts', 'near.ts']);
  });
});

describe('in this repository', () => {
  const files = planTests(ROOT);
  const of = (path: string) => files.find((file) => file.path.endsWith(path));

  test('every test file is in the plan once', () => {
    expect(files.map(({ path }) => path)).toEqual([...findTestFiles(ROOT)]);
    expect(files.filter(({ isUnit }) => isUnit).length).toBeGreaterThan(50);
  });

  test('a name says which lane a file is in', () => {
    expect(of('unread-answers.e2e.measure.nightly.test.ts')).toMatchObject({ isNightly: true, isMeasuring: true });
    expect(of('chaos.nightly.test.ts')).toMatchObject({ isNightly: true, isMeasuring: false });
    expect(of('plan-tests.test.ts')?.isNightly).toBe(false);
  });

  test('timings tell of files that are there', async () => {
    const timings = await Bun.file(join(import.meta.dir, 'test-timings.json')).json();
    const there = new Set(files.map(({ path }) => path));
    expect(Object.keys(timings.files).filter((path) => !there.has(path))).toEqual([]);
  });

  test('files of every kind are known for what they are', () => {
    for (const path of ['chat/collect.test.ts', 'bin/plan-tests.test.ts']) expect(of(path)?.isUnit).toBe(true);
    expect([...(of('hot-store.agreement.test.ts')?.stores ?? [])]).toEqual(['redis']);
    expect(of('money.e2e.test.ts')?.stores).toEqual(new Set(['postgres', 'template']));
    expect(of('journeys.browser.test.ts')?.isUnit).toBe(false);
  });

  test('a path chooses by a part of the name, by folder or by file', () => {
    const chosen = (...paths: string[]) => choose(paths, ROOT);
    expect(chosen('plan-tests')).toEqual(['packages/testing/bin/plan-tests.test.ts']);
    expect(chosen(import.meta.path)).toEqual(['packages/testing/bin/plan-tests.test.ts']);
    expect(chosen('packages/core/', 'packages/providers/').length).toBeGreaterThan(30);
    expect(chosen('no such file')).toEqual([]);
  });
});

test('options: what is wrong is said', () => {
  expect(readTestOptions(['a', '--unit', '-t', 'some name'])).toMatchObject({
    ...{ paths: ['a'], all: false, unitOnly: true, watch: false, name: 'some name', workers: undefined },
  });
  expect(readTestOptions(['--all'])).toMatchObject({ all: true, paths: [] });
  expect(readTestOptions(['--watch'])).toMatchObject({ unitOnly: true, watch: true });
  expect(() => readTestOptions(['--workers', 'many'])).toThrow('--workers many');
  expect(() => readTestOptions(['--wat'])).toThrow('--wat');
});
