// `bun bench/report/copy-results.ts`: puts the report of the last run into docs/internals/performance.md, between its marks.
import { join } from 'node:path';
import { LATEST_MARKDOWN } from './publish';

export const PERFORMANCE_DOC = join(import.meta.dir, '../../docs/internals/performance.md');

/** The document with `results` between its marks, in place of what was there. Throws when the marks are missing. */
export function insertResults(document: string, results: string, name = 'results'): string {
  const marks = { begin: `<!-- ${name}: begin -->`, end: `<!-- ${name}: end -->` };
  const begin = document.indexOf(marks.begin);
  const end = document.indexOf(marks.end);
  if (begin === -1 || end < begin) throw new Error(`the document has no ${marks.begin} … ${marks.end}`);
  return `${document.slice(0, begin + marks.begin.length)}\n\n${results.trim()}\n\n${document.slice(end)}`;
}

if (import.meta.main) {
  const latest = Bun.file(LATEST_MARKDOWN);
  if (!(await latest.exists())) throw new Error('no results yet: bun run bench makes them');
  const document = await Bun.file(PERFORMANCE_DOC).text();
  await Bun.write(PERFORMANCE_DOC, insertResults(document, await latest.text()));
}
