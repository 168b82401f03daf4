import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './read-pages';

const DOCS = join(ROOT, 'docs');
const QUESTION = /^\| (.+) \| \[.+?\]\(\.\.\/(.+?)\) \| (`+)(.+)\3 \|$/;

const questions = readFileSync(join(DOCS, 'contributing/questions.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, question = '', page = '', , words = ''] = QUESTION.exec(line) ?? [];
    return question === '' ? [] : [[question, page, words.trim().replaceAll('\\|', '|')] as const];
  });

test('there are at least forty', () => {
  expect(questions.length).toBeGreaterThanOrEqual(40);
});

test.each(questions)('%s', (_, page, words) => {
  expect(readFileSync(join(DOCS, page), 'utf8')).toContain(words);
});
