import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';

type Said = Pick<Extract<ChatEvent, { type: 'text' }>, 'choice' | 'text'>;

/** Characters that end a JSON string, or need a parser. */
const SPECIAL = /["\\\p{Cc}]/u;
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

/** A chunk cut around its text. Most later chunks of a stream differ from it in the text alone and need no parsing. */
export class ChunkTemplate {
  private constructor(
    readonly chunk: JsonObject,
    readonly choice: number,
    private readonly head: string,
    private readonly tail: string,
    private readonly isPadded = false,
  ) {}

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

  /** Index of the tail before a padding; -1 without one. */
  private endOfPadded(data: string): number {
    const quote = data.length - 2;
    const from = data.lastIndexOf('"', quote - 1) + 1;
    const isPadding = data[quote] === '"' && data[quote + 1] === '}' && !SPECIAL.test(data.slice(from, quote));
    return isPadding ? from - this.tail.length : -1;
  }
}
