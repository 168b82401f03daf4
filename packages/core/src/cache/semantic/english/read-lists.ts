// The format of data/english: a list a file, or several below `[name]` lines; `#` begins a line that only explains.

/** Lines with content. */
export const linesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));

/** A file's lists by their names. Throws for one that is not there, so that a slip shows at start. */
export function listsOf(text: string): (name: string) => readonly string[] {
  const lists = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of linesOf(text)) {
    const name = /^\[([a-z-]+)\]$/.exec(line)?.[1];
    if (name === undefined) current.push(line);
    else {
      current = [];
      lists.set(name, current);
    }
  }
  return (name) => {
    const lines = lists.get(name);
    if (lines === undefined) throw new Error(`the word list [${name}] is missing`);
    return lines;
  };
}

const wordsOf = (line: string): readonly string[] => line.trim().split(/\s+/);

/** Words that belong together, a line each. */
export const groupsOf = (lines: readonly string[]): readonly (readonly string[])[] => lines.map(wordsOf);

export const setOf = (lines: readonly string[]): ReadonlySet<string> => new Set(lines.flatMap(wordsOf));

/** A word and the rest of its line. */
export const mapOf = (lines: readonly string[]): ReadonlyMap<string, string> =>
  new Map(lines.map(wordsOf).map(([word = '', other = '']) => [word, other]));

export const numbersOf = (lines: readonly string[]): ReadonlyMap<string, number> =>
  new Map([...mapOf(lines)].map(([word, value]) => [word, Number(value)]));
