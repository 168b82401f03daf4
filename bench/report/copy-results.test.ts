import { expect, test } from 'bun:test';
import { insertResults, PERFORMANCE_DOC } from './copy-results';

test('results replace those of the run before, and nothing else', async () => {
  const document = await Bun.file(PERFORMANCE_DOC).text();
  const first = insertResults(document, '| first |\n');
  expect(first).toContain('| first |');
  const second = insertResults(first, '| second |');
  expect(second).not.toContain('| first |');
  expect(second.replace('| second |', '| first |')).toBe(first);
  expect(second.startsWith(document.slice(0, document.indexOf('<!-- results: begin')))).toBe(true);
});

test('a document without a place for them is left alone', () => {
  expect(() => insertResults('no marks', 'x')).toThrow(/results: begin/);
});
