import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { proseLines, ROOT, readPages } from './read-pages';

const MORE = ['CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'bench/README.md', 'deploy/helm/llm0/README.md'];
/** Words that no page needs, and sentences that open with a clause as a noun. */
const BANNED: readonly RegExp[] = [
  /\b(?:anew|whoever|thereof|whence|hence|lest|mend(?:ed|s)?|forgo|parted|beget|lent)\b/i,
  /\b(?:is|are|was|were) (?:told|asked)\b/,
  /(?:^|[.:] |\| )(?:Who|Whoever|Whatever|What) [a-z][^.?|]* (?:is|are|may|can|has|have|gets|goes) [^?|]*\./,
];
/** They quote the old style, or other people's questions. */
const QUOTES = /contributing\/(?:style|questions)\.md$/;

test('no page uses words that docs/contributing/style.md rules out', () => {
  const pages = [...readPages(), ...MORE.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))];
  const found = pages
    .filter(({ path }) => !QUOTES.test(path))
    .flatMap(({ path, text }) =>
      proseLines(text)
        .map((line) => line.replace(/`[^`]*`|"[^"]*"/g, ''))
        .filter((line) => BANNED.some((words) => words.test(line)))
        .map((line) => `${path}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
