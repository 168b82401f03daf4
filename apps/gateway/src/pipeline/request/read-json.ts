import { freeBytes, nextTurn } from '@llm0/core/async/time-slices';
import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { RequestBounds } from '@llm0/core/chat/json-bounds';
import { LARGE_JSON_LENGTH, LONG_JSON_LENGTH, parseJsonPieces } from '@llm0/core/chat/json-in-slices';
import { GatewayError } from '@llm0/core/errors/gateway-error';

/** Bytes that are decoded and judged in one turn. */
const PIECE_BYTES = 256 * 1024;

export interface ReadJson {
  /** Undefined for an empty body. */
  readonly value: JsonValue | undefined;
  readonly isLarge: boolean;
}

interface ReadJsonOptions {
  readonly fatal: boolean;
  /** Declared length of the body. */
  readonly bytes?: number;
}

/**
 * Decodes, checks and parses a JSON body while it arrives, in short steps. Stops reading an excessive one, and never
 * holds a large text whole. Throws `invalid_request`; `invalid_json` for invalid JSON, or UTF-8 if `fatal`.
 */
export async function readJson(body: ReadableStream<Uint8Array>, options: ReadJsonOptions): Promise<ReadJson> {
  const bounds = new RequestBounds();
  const pieces = readPieces(body, bounds, options);
  const first: string[] = [];
  let length = 0;
  for (;;) {
    const { done, value: piece } = await pieces.next();
    if (done === true) break;
    first.push(piece);
    length += piece.length;
    if (length <= (bounds.hasMany ? LARGE_JSON_LENGTH : LONG_JSON_LENGTH)) continue;
    return { value: await asJson(() => parseJsonPieces(chain(first, pieces), options.bytes)), isLarge: true };
  }
  const text = first.join('');
  return { value: text === '' ? undefined : await asJson(() => JSON.parse(text) as JsonValue), isLarge: false };
}

async function* chain(first: string[], rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first.splice(0).join('');
  yield* rest;
}

async function* readPieces(
  body: ReadableStream<Uint8Array>,
  bounds: RequestBounds,
  { fatal }: ReadJsonOptions,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal });
  let bytesInTurn = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
      const bytes = chunk.subarray(at, at + PIECE_BYTES);
      bytesInTurn += bytes.byteLength;
      if (bytesInTurn > PIECE_BYTES) {
        // Buffered chunks would otherwise arrive without yielding to others.
        await nextTurn();
        bytesInTurn = bytes.byteLength;
      }
      const piece = decode(decoder, bytes);
      bounds.check(piece);
      yield piece;
    }
    freeBytes(chunk);
  }
  yield decode(decoder);
  if (bounds.isOpen) throw new GatewayError('invalid_json', 'The request body is not valid JSON: it is incomplete.');
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch (cause) {
    throw new GatewayError('invalid_json', 'The request body is not valid JSON: it is not UTF-8.', { cause });
  }
}

/** Throws `invalid_json`. */
export async function asJson(read: () => JsonValue | Promise<JsonValue>): Promise<JsonValue> {
  try {
    return await read();
  } catch (cause) {
    throw noJson(cause);
  }
}

/** Throws `invalid_request` for anything but an object. */
export function asObject(value: JsonValue | undefined): JsonObject {
  if (value === undefined || !isObject(value)) {
    throw new GatewayError('invalid_request', 'The request body must be a JSON object.');
  }
  return value;
}

/** Error for text that can't be parsed; returns other causes unchanged. */
export function noJson(cause: unknown): unknown {
  if (!(cause instanceof SyntaxError)) return cause;
  return new GatewayError('invalid_json', `The request body is not valid JSON: ${describe(cause)}.`, { cause });
}

function describe({ message }: SyntaxError): string {
  return message.replace(/^JSON Parse error:\s*/i, '').slice(0, 120);
}
