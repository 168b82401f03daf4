import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';

type Said = Pick<Extract<ChatEvent, { type: 'text' }>, 'choice' | 'text'>;

/** Characters that end a JSON string, or need a parser. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them.
const SPECIAL = /["\\\u0000-\u001f\u007f-\u009f]/;
const TEXT_NAME = '"content"';
/** The last member of a chunk, random and without meaning. */
const PADDING = /"obfuscation": ?"\w*"\}$/;

function parseText(json: string): string | undefined {
  try {
    return String(JSON.parse(json)) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * The contents of JSON strings, parsed at once: copies, since slices would hold all of the stream in memory. A quote in
 * one of them adds a text: none may end with a backslash.
 */
function parseTexts(quoted: readonly string[]): readonly string[] | undefined {
  const json = `["${quoted.join('","')}"]`;
  try {
    const texts = JSON.parse(json) as readonly string[];
    return texts.length === quoted.length ? texts : undefined;
  } catch {
    return undefined;
  }
}

/** Before and after the data of an event in its plainest form. */
const EVENT_BEGIN = 'data: ';
const EVENT_END = '\n\n';

/** A chunk cut around its text. Most later chunks of a stream differ from it in the text alone and need no parsing. */
export class ChunkTemplate {
  private readonly begin: string;
  private readonly end: string;
  private mayRun: boolean;

  private constructor(
    readonly chunk: JsonObject,
    readonly choice: number,
    private readonly head: string,
    private readonly tail: string,
    private readonly isPadded = false,
  ) {
    this.begin = EVENT_BEGIN + head;
    this.end = tail + EVENT_END;
    this.mayRun = !isPadded;
  }

  /** `data`: JSON of a chunk that says `text` and nothing else. Undefined where the place of the text isn't certain. */
  static of(data: string, chunk: JsonObject, { choice, text }: Said): ChunkTemplate | undefined {
    const name = data.indexOf(TEXT_NAME);
    const colon = name + TEXT_NAME.length;
    const quoted = `"${text}"`;
    const from = data[colon + 1] === ' ' ? colon + 2 : colon + 1;
    if (SPECIAL.test(text) || data[colon] !== ':' || !data.startsWith(quoted, from)) return undefined;
    const head = data.slice(0, from + 1);
    const rest = data.slice(from + quoted.length - 1);
    // A name may come twice, and in another spelling.
    if (rest.includes(TEXT_NAME) || head.includes('\\') || rest.includes('\\')) return undefined;
    if (!PADDING.test(rest)) return new ChunkTemplate(chunk, choice, head, rest);
    const tail = rest.slice(0, rest.lastIndexOf('"', rest.length - 3) + 1);
    return new ChunkTemplate(chunk, choice, head, tail, true);
  }

  /** The text of a chunk that is the same otherwise; undefined for any other. */
  textOf(data: string): string | undefined {
    if (!data.startsWith(this.head)) return undefined;
    const end = this.isPadded ? this.endOfPadded(data) : data.length - this.tail.length;
    if (end <= this.head.length || !data.startsWith(this.tail, end)) return undefined;
    // A slice would hold all of the chunk in memory.
    return parseText(data.slice(this.head.length - 1, end + 1));
  }

  /** Appends the texts of all whole events from `at` on that are the same otherwise; gives where they end. */
  readRun(stream: string, at: number, events: ChatEvent[]): number {
    if (!this.mayRun) return at;
    const { begin, end, choice } = this;
    const quoted: string[] = [];
    let next = at;
    while (stream.startsWith(begin, next)) {
      const from = next + begin.length;
      const to = stream.indexOf(EVENT_END, from) - this.tail.length;
      if (to <= from || !stream.startsWith(end, to)) break;
      const text = stream.slice(from, to);
      if (text.includes('\\"') || text.endsWith('\\')) break;
      quoted.push(text);
      next = to + end.length;
    }
    if (quoted.length === 0) return at;
    const texts = parseTexts(quoted);
    // What one of them is: the slow way tells. All later ones take it, too.
    this.mayRun = texts !== undefined;
    if (texts === undefined) return at;
    for (let i = 0; i < texts.length; i++) events.push({ type: 'text', choice, text: texts[i] as string });
    return next;
  }

  /** Index of the tail before a padding; -1 without one. */
  private endOfPadded(data: string): number {
    const quote = data.length - 2;
    const from = data.lastIndexOf('"', quote - 1) + 1;
    const isPadding = data[quote] === '"' && data[quote + 1] === '}' && !SPECIAL.test(data.slice(from, quote));
    return isPadding ? from - this.tail.length : -1;
  }
}
