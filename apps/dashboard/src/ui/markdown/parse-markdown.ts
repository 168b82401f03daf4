import { lexer, type Token } from 'marked';

/** Longer texts stay plain: Markdown parsing takes more than linear time. */
const MOST_CHARACTERS = 200_000;
const MOST_IN_A_BLOCK = 10_000;
const MOST_LEVELS = 30;

/** Parses Markdown and keeps single line breaks; null for text to show unchanged. */
export function parseMarkdown(text: string): readonly Token[] | null {
  if (text.length > MOST_CHARACTERS) return null;
  if (text.split('\n\n').some((block) => block.length > MOST_IN_A_BLOCK)) return null;
  try {
    const tokens = lexer(text, { gfm: true, breaks: true });
    return tokens.some((token) => isDeeper(token, MOST_LEVELS)) ? null : tokens;
  } catch {
    // Quotes in quotes in quotes: the stack ends before the text does.
    return null;
  }
}

function isDeeper(token: object, levels: number): boolean {
  if (levels === 0) return true;
  const inner = [
    ...('tokens' in token ? (token.tokens as Token[]) : []),
    ...('items' in token ? (token.items as Token[]) : []),
  ];
  return inner.some((one) => isDeeper(one, levels - 1));
}
