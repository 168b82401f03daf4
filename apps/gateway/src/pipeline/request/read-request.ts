import { boundedBody, declaredLength, takeRoom, tooLarge, tooSlow } from '@llm0/core/async/bounded-body';
import { freeBytes, nextTurn } from '@llm0/core/async/time-slices';
import { digestRequest } from '@llm0/core/cache/cache-key';
import { type JsonObject, type JsonValue, noteMembers } from '@llm0/core/chat/json';
import { checkJsonBounds, HARMLESS_LENGTH, RequestBounds } from '@llm0/core/chat/json-bounds';
import {
  LARGE_JSON_LENGTH,
  LONG_JSON_LENGTH,
  parseJsonInSlices,
  parseJsonPieces,
} from '@llm0/core/chat/json-in-slices';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Services, UnderWay } from '../../services/contract';

export interface ReadBody {
  readonly body: JsonObject;
  /** All further work on it is done in turns. */
  readonly isLarge: boolean;
}

/** A request whose body was read before, by a request under way that goes on as this one. */
export class HeldRequest extends Request {
  constructor(
    request: Request,
    readonly whole: ReadBody,
    readonly underWay: UnderWay,
  ) {
    super(request.url, { method: request.method, headers: request.headers, signal: request.signal });
  }
}

type Needs = Pick<Services, 'config' | 'bodyDeadlines'>;

/** Reads and parses a request body, bounded by MAX_BODY_BYTES. Throws `request_too_large`, `overloaded` or `invalid_json`. */
export async function readRequestBody(
  { config, bodyDeadlines }: Needs,
  request: Request,
  underWay: UnderWay,
): Promise<ReadBody> {
  if (request instanceof HeldRequest) return request.whole;
  const { maxBodyBytes: maxBytes } = config;
  const declared = declaredLength(request.headers, maxBytes);
  // The body as a stream is made when it is first looked at, which costs more than all the rest of reading one at once.
  if ((declared === undefined || declared > LONG_JSON_LENGTH) && request.body !== null) {
    const room = await takeRoom(declared, { take: (bytes) => underWay.takeBody(bytes) });
    const read = await readJson(boundedBody(request.body, { maxBytes, ...room }), { fatal: false, bytes: declared });
    return { body: read.value === undefined ? parseObject('') : asObject(read.value), isLarge: read.isLarge };
  }
  const room = underWay.takeBody(declared ?? 0);
  if (room !== undefined) await room;
  const text = await bodyDeadlines.read(request.text(), declared ?? 0, tooSlow);
  if (text.length > maxBytes) throw tooLarge(maxBytes);
  const seen = text.length < HARMLESS_LENGTH ? undefined : checkJsonBounds(text);
  if (seen?.isLarge === true) return { body: asObject(await asJson(() => parseJsonInSlices(text))), isLarge: true };
  const body = parseObject(text);
  if (seen !== undefined) noteMembers(body, text, seen);
  return { body, isLarge: false };
}

/** A large request with the digest for its cache key. */
export async function withDigest(request: ChatRequest): Promise<ChatRequest> {
  await nextTurn();
  const digest = await digestRequest(request);
  await nextTurn();
  return { ...request, digest };
}

/** Throws `invalid_json`, and `invalid_request` for anything but an object. */
function parseObject(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw noJson(cause);
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : asObject(value);
}

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
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new GatewayError('invalid_request', 'The request body must be a JSON object.');
}

/** Error for text that can't be parsed; returns other causes unchanged. */
export function noJson(cause: unknown): unknown {
  if (!(cause instanceof SyntaxError)) return cause;
  return new GatewayError('invalid_json', `The request body is not valid JSON: ${describe(cause)}.`, { cause });
}

function describe({ message }: SyntaxError): string {
  return message.replace(/^JSON Parse error:\s*/i, '').slice(0, 120);
}
