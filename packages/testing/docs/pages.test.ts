import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { headingsOf, linksOf, proseLines, ROOT, readPages, sentenceLengths, slugOf } from './read-pages';

/** Pages from the code are as long as it has parts. */
const FROM_CODE = '<!-- Made from the code';
const MOST_LINES = 250;
const MOST_CHARACTERS = 140;
const MOST_WORDS = 35;
const MOST_MEDIAN = 16;
const LONG_PAGE = 120;
/** Tables that a program writes. */
const GENERATED = /^docs\/reference\/(?:compatibility|guardrail-figures)\.md$/;
const pages = readPages();
const written = pages.filter(({ path }) => !GENERATED.test(path));

describe.each(written.map((page) => [page.path, page] as const))('%s', (path, { text }) => {
  test('has short lines, and not too many', () => {
    const long = proseLines(text).filter(
      (line) => line.length > MOST_CHARACTERS && !/^\s*(?:\||<|- .+ — `)/.test(line),
    );
    expect(long).toEqual([]);
    const lines = path === 'README.md' ? text.trimEnd().split('\n') : proseLines(text);
    if (!text.includes(FROM_CODE)) expect(lines.length).toBeLessThanOrEqual(path === 'README.md' ? 120 : MOST_LINES);
  });

  test('says first what it is for', () => {
    const [title = '', , purpose = ''] = text.split('\n');
    expect([title.startsWith('# '), /^[\p{L}`]/u.test(purpose)]).toEqual([true, true]);
  });
});

describe.each(written.map((page) => [page.path, page] as const))('%s', (path, { text }) => {
  test('is made of short sentences', () => {
    const sentences = sentenceLengths(text);
    expect(sentences.filter(({ words }) => words > MOST_WORDS)).toEqual([]);
    const median = sentences.map(({ words }) => words).sort((a, b) => a - b)[Math.floor(sentences.length / 2)] ?? 0;
    expect(median).toBeLessThanOrEqual(MOST_MEDIAN);
  });

  test('has a list of contents where it is long', () => {
    const isLong = proseLines(text).length > LONG_PAGE && !path.startsWith('docs/reference/') && path !== 'README.md';
    expect(!isLong || /\]\(#/.test(text)).toBe(true);
  });
});

test('links lead somewhere, to the place that they name', () => {
  const places = new Map<string, ReadonlySet<string>>();
  const placesOf = (file: string) =>
    places.getOrInsertComputed(file, () => new Set(headingsOf(readFileSync(join(ROOT, file), 'utf8')).map(slugOf)));
  const dead = pages.flatMap((page) =>
    linksOf(page)
      .filter(({ file, anchor }) => {
        if (!existsSync(join(ROOT, file))) return true;
        return anchor !== '' && file.endsWith('.md') && !placesOf(file).has(anchor);
      })
      .map(({ file, anchor }) => `${page.path}: ${file}#${anchor}`),
  );
  expect(dead).toEqual([]);
});

test('every page is in the contents', () => {
  const index = pages.find(({ path }) => path === 'docs/index.md');
  const listed = new Set(index === undefined ? [] : linksOf(index).map(({ file }) => file));
  const missing = pages.filter(({ path }) => /^docs\/(?!guides\/clients\/|index)/.test(path) && !listed.has(path));
  expect(missing.map(({ path }) => path)).toEqual([]);
});
