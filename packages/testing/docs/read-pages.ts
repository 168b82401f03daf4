import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const ROOT = join(import.meta.dir, '../../..');

export interface Page {
  /** From the repository's root. */
  readonly path: string;
  readonly text: string;
}

/** README and all pages of the documentation. */
export function readPages(): readonly Page[] {
  const paths = ['README.md', ...new Bun.Glob('docs/**/*.md').scanSync(ROOT)].sort();
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

const FENCE = /^\s*(?:```|~~~)/;

/** Lines outside of code. */
export function proseLines(text: string): readonly string[] {
  let isCode = false;
  return text.split('\n').filter((line) => {
    if (!FENCE.test(line)) return !isCode;
    isCode = !isCode;
    return false;
  });
}

/** As GitHub and the site name a heading's place. */
export const slugOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

export const headingsOf = (text: string): readonly string[] =>
  proseLines(text).flatMap((line) => /^#{1,6} (.+)$/.exec(line)?.[1] ?? []);

/** Words of each sentence; code, links' addresses, tables and headings aside. */
export function sentenceLengths(text: string): readonly { readonly words: number; readonly sentence: string }[] {
  const prose = proseLines(text)
    .filter((line) => !/^\s*(?:\||#|<|!\[)/.test(line))
    .map((line) => (/^\s*(?:[-*]|\d+\.) /.test(line) ? `\n\n${line.replace(/^\s*(?:[-*]|\d+\.) /, '')}` : line))
    .join('\n')
    // Claims of security.md name a test behind a dash.
    .replace(/— `[^`]+` "[^"]*"/g, '')
    .replace(/`[^`]*`/g, 'code')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/[*_[\]]/g, '');
  return prose.split(/\n\s*\n/).flatMap((paragraph) =>
    paragraph
      .replace(/\s+/g, ' ')
      .split(/(?<=[.!?:;])\s+/)
      .map((sentence) => ({ sentence, words: sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length }))
      .filter(({ words }) => words > 0),
  );
}

const LINK = /\]\((?![a-z]+:)([^)\s]*)\)/g;

/** Links within the repository: the file, and the place in it. */
export const linksOf = ({ path, text }: Page): readonly { readonly file: string; readonly anchor: string }[] =>
  [...proseLines(text).join('\n').matchAll(LINK)].map(([, link = '']) => {
    const [file = '', anchor = ''] = link.split('#');
    return { file: file === '' ? path : normalize(join(dirname(path), file)), anchor };
  });
