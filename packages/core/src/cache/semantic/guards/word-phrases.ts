/** One step of a phrase: the next words, or the replacement. */
interface Step {
  readonly next: Map<string, Step>;
  becomes: string | undefined;
}

const PIECES = /[\p{L}\p{N}'’]+|[^\p{L}\p{N}'’]+/gu;
/** Between the words of a phrase. */
const BLANK = /^(?: +|-)$/;

/** Phrases of many words in one table, however many there are: a text is walked through once. */
export class PhraseTable {
  private readonly first: Step = { next: new Map(), becomes: undefined };

  /** Lines like `is it|this ok|okay please? to = can i`: `|` separates choices, `?` marks an optional word. */
  constructor(lines: readonly string[]) {
    for (const line of lines) {
      const [left = '', right = ''] = line.split('=').map((side) => side.trim());
      this.add(this.first, left.split(/[\s-]+/), right.replaceAll('-', ''));
    }
  }

  private add(at: Step, [choices, ...rest]: readonly string[], becomes: string): void {
    if (choices === undefined) {
      at.becomes = becomes;
      return;
    }
    const isOptional = choices.endsWith('?');
    if (isOptional) this.add(at, rest, becomes);
    for (const word of choices.replace(/\?$/, '').split('|')) {
      const step = at.next.get(word) ?? { next: new Map(), becomes: undefined };
      at.next.set(word, step);
      this.add(step, rest, becomes);
    }
  }

  /** A text in lower case with its phrases replaced, the longest first from where each begins. */
  replaceIn(text: string): string {
    const pieces = text.match(PIECES) ?? [];
    let result = '';
    for (let at = 0; at < pieces.length; ) {
      const found = this.longestAt(pieces, at);
      result += found === undefined ? pieces[at] : ` ${found.becomes} `;
      at = found?.end ?? at + 1;
    }
    return result;
  }

  private longestAt(pieces: readonly string[], start: number): { becomes: string; end: number } | undefined {
    let found: { becomes: string; end: number } | undefined;
    let step: Step | undefined = this.first.next.get(pieces[start] ?? '');
    for (let at = start; step !== undefined; at += 2) {
      if (step.becomes !== undefined) found = { becomes: step.becomes, end: at + 1 };
      if (!BLANK.test(pieces[at + 1] ?? '')) break;
      step = step.next.get(pieces[at + 2] ?? '');
    }
    return found;
  }
}
