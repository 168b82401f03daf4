import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { HostileKind } from './hostile-answer';

/** What the fake vendor is to do with one request. Everything left out is ordinary. */
export interface FakeBehaviour {
  /** The whole answer; by default `chunks` times `word `. */
  readonly text?: string;
  /** Answer with what was asked, in the words of the last message or prompt. */
  readonly sayBack?: boolean;
  /** Another model than the one asked for says so, and is billed. */
  readonly answeredBy?: string;
  /** Content chunks of a streamed answer. */
  readonly chunks?: number;
  /** How many choices say so (OpenAI's formats). */
  readonly n?: number;
  /** Token counts to bill; by default 10 in and one per chunk out. `null`: none are reported. */
  readonly usage?: {
    readonly prompt?: number;
    readonly completion?: number;
    readonly cached?: number;
    readonly reasoning?: number;
    /** Part of the prompt that is pictures. */
    readonly pictures?: number;
  } | null;
  /** Seconds of audio that are billed instead of tokens. */
  readonly seconds?: number;
  /** Bills no more output than the request allows. */
  readonly obeysLimit?: boolean;
  /** Where a stream reports usage. */
  readonly usageOn?: 'own-chunk' | 'finish-chunk';
  /** In the words of Chat Completions; other formats say it in theirs. */
  readonly finishReason?: string;
  /** Thoughts ahead of the answer. */
  readonly reasoning?: string;
  /** Refuse in these words instead of speaking. */
  readonly refusal?: string;
  /** Calls to make instead of speaking; arguments are JSON text. */
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: string }[];
  /** Characters of thoughts and of tools' arguments that come in their first piece; half of them unless said. */
  readonly cutAt?: number;
  /** Items of the Responses API that come ahead of what is said. */
  readonly outputItems?: readonly JsonObject[];
  /** Milliseconds before the headers, between chunks, and up to so much more at random. */
  readonly firstDelayMs?: number;
  readonly gapMs?: number;
  readonly jitterMs?: number;
  /** Anything but 200 answers with an error. */
  readonly status?: number;
  /** From 0 to 1: how many of the requests answer 500 instead. */
  readonly failShare?: number;
  /** `Retry-After` as it is to stand in the header. */
  readonly retryAfter?: string;
  /** Body of an error, or of a 200 instead of the answer. */
  readonly body?: string;
  readonly contentType?: string;
  /** A page instead of an answer, with status 200. */
  readonly html?: boolean;
  /** Headers and then nothing at all. */
  readonly empty?: boolean;
  readonly lineEnd?: 'lf' | 'crlf' | 'cr';
  readonly comments?: boolean;
  /** Cut the bytes inside characters. */
  readonly splitCharacters?: boolean;
  /** One byte at a time. */
  readonly byteByByte?: boolean;
  readonly noDone?: boolean;
  /** Chunks sent before an error event, a broken connection, or silence for ever. */
  readonly errorAfter?: number;
  readonly resetAfter?: number;
  readonly hangAfter?: number;
  /** End the connection after so many chunks, as if that were all. */
  readonly truncateAfter?: number;
  /** Never answer at all. */
  readonly hang?: boolean;
  /** What only an enemy sends. */
  readonly hostile?: HostileKind;
  /** Encoding of the answer's body, named as HTTP names it. */
  readonly compress?: 'gzip' | 'br' | 'deflate' | 'zstd';
  /** Answer a stream request with a whole JSON body. */
  readonly plainForStream?: boolean;
}

const HEADER_PREFIX = 'x-fake-';

/**
 * The behaviour a request asks for by itself: `x_fake` in its body (a gateway passes unknown fields on), or headers
 * `x-fake-<name>: value` (`x-fake-first-delay-ms: 50`).
 */
export function requestedBehaviour(body: JsonObject, headers: Headers): FakeBehaviour {
  const asked: JsonObject = {};
  for (const [name, value] of headers) {
    if (name.startsWith(HEADER_PREFIX)) asked[camelCase(name.slice(HEADER_PREFIX.length))] = parseValue(value);
  }
  const inBody = body.x_fake;
  const fromBody = typeof inBody === 'object' && inBody !== null && !Array.isArray(inBody) ? inBody : {};
  return { ...asked, ...fromBody } as FakeBehaviour;
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function parseValue(value: string): JsonValue {
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return value;
  }
}
