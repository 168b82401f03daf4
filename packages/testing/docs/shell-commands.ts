import type { Page } from './read-pages';

const FENCE = /^\s*(?:```|~~~)(\S*)/;

/** Code blocks with their language. */
export function codeBlocks(text: string): readonly { readonly language: string; readonly code: string }[] {
  const blocks: { language: string; code: string }[] = [];
  let open: { language: string; lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const language = FENCE.exec(line)?.[1];
    if (language === undefined) open?.lines.push(line);
    else if (open === undefined) open = { language, lines: [] };
    else {
      blocks.push({ language: open.language, code: open.lines.join('\n') });
      open = undefined;
    }
  }
  return blocks;
}

/** Commands of `sh` blocks, one a line: continued lines and quoted line ends are joined, comments are gone. */
export function shellCommands({ text }: Page): readonly string[] {
  return codeBlocks(text).flatMap(({ language, code }) =>
    language !== 'sh'
      ? []
      : code
          .replaceAll(/\\\n\s*/g, '')
          .replaceAll(/'[^']*'/g, (quoted) => quoted.replaceAll(/\s*\n\s*/g, ' '))
          .split('\n')
          .map((line) => line.replace(/(?:^|\s+)#\s.*$/, '').trim())
          .filter((line) => line !== ''),
  );
}

/** Words of a shell line; quotes hold some together. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"]+)+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  );
