import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimFolder, closeDatabase, socketFolder } from './private-folder';

let root: string;
let umask: number;
const warnings: string[] = [];
const warn = (message: string) => warnings.push(message);
const rights = (...path: string[]) => (statSync(join(root, ...path)).mode & 0o777).toString(8);

beforeEach(() => {
  umask = process.umask(0);
  root = mkdtempSync(join(tmpdir(), 'llm0-private-'));
  warnings.length = 0;
});
afterEach(() => {
  process.umask(umask);
  rmSync(root, { recursive: true, force: true });
});

describe('a data folder', () => {
  test('is created for its user only, without a message', () => {
    claimFolder(join(root, 'a', 'b'), warn);
    expect([rights('a', 'b'), warnings]).toEqual(['700', []]);
  });

  test('readable by others is closed with its files, with one message', () => {
    mkdirSync(join(root, 'data'), { mode: 0o755 });
    writeFileSync(join(root, 'data', 'journal'), 'x', { mode: 0o664 });
    writeFileSync(join(root, 'outside'), 'x', { mode: 0o644 });
    symlinkSync(join(root, 'outside'), join(root, 'data', 'link'));
    claimFolder(join(root, 'data'), warn);
    expect([rights('data'), rights('data', 'journal'), rights('outside')]).toEqual(['700', '600', '644']);
    expect(warnings).toEqual([expect.stringContaining('was open to other users (mode 755)')]);
    claimFolder(join(root, 'data'), warn);
    expect(warnings).toHaveLength(1);
  });

  test.each(['/', '/tmp'])('of all is refused: %s', (path) => {
    const mode = statSync(path).mode;
    expect(() => claimFolder(path, warn)).toThrow('belongs to everybody');
    expect(statSync(path).mode).toBe(mode);
  });

  test('has a database of an earlier version closed, whose mark says so', () => {
    mkdirSync(join(root, 'pg', 'base'), { recursive: true, mode: 0o755 });
    for (const name of ['PG_VERSION', 'base/1', 'base/PG_VERSION'])
      writeFileSync(join(root, 'pg', name), 'x', { mode: 0o666 });
    closeDatabase(join(root, 'pg'));
    expect([rights('pg', 'base'), rights('pg', 'base', '1'), rights('pg', 'PG_VERSION')]).toEqual([
      '700',
      '600',
      '600',
    ]);
    closeDatabase(join(root, 'not there'));
  });

  test('of another user that is open to others is refused', () => {
    const { getuid } = process;
    process.getuid = () => statSync(root).uid + 1;
    try {
      chmodSync(root, 0o755);
      expect(() => claimFolder(root, warn)).toThrow('belongs to another user');
      expect(rights()).toBe('755');
    } finally {
      process.getuid = getuid;
    }
  });
});

describe('a folder for sockets', () => {
  const name = `llm0-test-${process.pid}`;
  const path = join(tmpdir(), name);
  afterEach(() => rmSync(path, { recursive: true, force: true }));

  test('is made closed, and found again', () => {
    for (let round = 0; round < 2; round++) expect(socketFolder(name)).toEqual({ path, isNew: false });
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test.each<[string, () => void]>([
    ['open to others', () => mkdirSync(path, { mode: 0o777 })],
    ['a link', () => symlinkSync(root, path)],
    ['a file', () => writeFileSync(path, '')],
  ])('an older file is skipped: %s', (_what, make) => {
    make();
    const chosen = socketFolder(name);
    expect([chosen.isNew, chosen.path === path]).toEqual([true, false]);
    expect(statSync(chosen.path).mode & 0o777).toBe(0o700);
    rmSync(chosen.path, { recursive: true });
  });

  test('owned by another user is skipped', () => {
    mkdirSync(path, { mode: 0o700 });
    const { getuid } = process;
    process.getuid = () => statSync(path).uid + 1;
    try {
      const chosen = socketFolder(name);
      expect(chosen.isNew).toBe(true);
      rmSync(chosen.path, { recursive: true });
    } finally {
      process.getuid = getuid;
    }
  });
});
