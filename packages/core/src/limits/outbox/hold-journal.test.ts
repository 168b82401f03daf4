import { afterEach, beforeEach, expect, test } from 'bun:test';
import { appendFileSync, existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../store-rows.fixture';
import { HoldJournal } from './hold-journal';

let dir: TempDir;
beforeEach(() => {
  dir = makeTempDir();
});
afterEach(() => dir.remove());

const HOLD = '70 70 10 0 5\nproject\tkey\t\n{"id":"a"}';
const files = () => readdirSync(dir.path);

test('open holds are visible to every process of the folder, also of a dead one', () => {
  const gone = new HoldJournal(dir.path, 'gone');
  gone.begin([
    ['a', HOLD],
    ['b', HOLD],
  ]);
  appendFileSync(join(dir.path, files()[0] ?? ''), '["c","torn');
  gone.close();
  const other = new HoldJournal(dir.path, 'other');
  other.begin([['d', HOLD]]);
  expect([...new HoldJournal(dir.path, 'third').readAll()].sort()).toEqual([
    ['a', HOLD],
    ['b', HOLD],
    ['d', HOLD],
  ]);
  other.close();
});

test('a drained file is removed, and an empty one ends with its process', () => {
  const journal = new HoldJournal(dir.path, 'one');
  journal.begin([
    ['a', HOLD],
    ['b', HOLD],
  ]);
  journal.end('a');
  journal.end('never begun');
  journal.tick(Date.now());
  expect([...journal.readAll().keys()]).toEqual(['a', 'b']);
  journal.end('b');
  journal.tick(Date.now() + 11_000);
  expect(journal.readAll().size).toBe(0);
  journal.begin([['c', HOLD]]);
  expect([...journal.readAll().keys()]).toEqual(['c']);
  journal.end('c');
  journal.close();
  expect(files()).toEqual([]);
});

test('a long file is written anew with what is open', () => {
  const journal = new HoldJournal(dir.path, 'one');
  for (let i = 0; i < 1100; i++) {
    journal.begin([[`r${i}`, HOLD]]);
    if (i > 0) journal.end(`r${i}`);
  }
  journal.tick(Date.now() + 11_000);
  journal.begin([['last', HOLD]]);
  expect([...new HoldJournal(dir.path, 'two').readAll().keys()]).toEqual(['r0', 'last']);
  journal.close();
});

test('files that nobody touched for ten minutes go', () => {
  const path = join(dir.path, 'holds-elsewhere-1-x.journal');
  writeFileSync(path, `${JSON.stringify(['a', HOLD])}\n`);
  const journal = new HoldJournal(dir.path, 'one');
  journal.tick(Date.now());
  expect(existsSync(path)).toBe(true);
  utimesSync(path, 1, 1);
  journal.tick(Date.now());
  expect(existsSync(path)).toBe(false);
});
