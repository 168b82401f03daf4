import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './read-pages';

const SUBJECT = /^(?:[a-z][\w, /-]*: \S|Merge |Revert ")/;
const MOST = 72;

const git = (...args: readonly string[]): string =>
  Bun.spawnSync(['git', '-C', ROOT, ...args])
    .stdout.toString()
    .trim();

/** Since the last tag; before the first one since the style was written. */
function firstExcluded(): string {
  const tag = git('describe', '--tags', '--abbrev=0');
  return tag === '' ? git('log', '--diff-filter=A', '--format=%H', '-1', '--', 'docs/contributing/style.md') : tag;
}

test('commits are named as docs/contributing/style.md says', () => {
  // An archive of the sources has no commits to check.
  if (!existsSync(join(ROOT, '.git'))) return;
  const since = firstExcluded();
  const subjects = git('log', '--format=%s', since === '' ? 'HEAD' : `${since}..HEAD`)
    .split('\n')
    .filter(Boolean);
  expect(subjects.filter((subject) => subject.length > MOST || !SUBJECT.test(subject))).toEqual([]);
});
