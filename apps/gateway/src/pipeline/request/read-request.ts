import { boundedBody, declaredLength, takeRoom, tooLarge, tooSlow } from '@llm0/core/async/bounded-body';
import { nextTurn } from '@llm0/core/async/time-slices';
import { digestRequest } from '@llm0/core/cache/cache-key';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { checkJsonBounds } from '@llm0/core/chat/json-bounds';
import { LONG_JSON_LENGTH, parseJsonInSlices } from '@llm0/core/chat/json-in-slices';
import { noteMembers } from '@llm0/core/chat/json-members';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { Services, UnderWay } from '../../services/contract';
import { asJson, asObject, noJson, type ReadJson, readJson } from './read-json';

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
export async function readRequestBody(services: Needs, request: Request, underWay: UnderWay): Promise<ReadBody> {
  if (request instanceof HeldRequest) return request.whole;
  const { value, isLarge } = await readValue(services, request, underWay);
  return { body: asObject(value), isLarge };
}

/** A large request with the digest for its cache key. */
export async function withDigest(request: ChatRequest): Promise<ChatRequest> {
  await nextTurn();
  const digest = await digestRequest(request);
  await nextTurn();
  return { ...request, digest };
}

async function readValue({ config, bodyDeadlines }: Needs, request: Request, underWay: UnderWay): Promise<ReadJson> {
  const { maxBodyBytes: maxBytes } = config;
  const declared = declaredLength(request.headers, maxBytes);
  // The body as a stream is made when it is first looked at, which costs more than all the rest of reading one at once.
  if ((declared === undefined || declared > LONG_JSON_LENGTH) && request.body !== null) {
    const room = await takeRoom(declared, { take: (bytes) => underWay.takeBody(bytes) });
    const read = await readJson(boundedBody(request.body, { maxBytes, ...room }), { fatal: false, bytes: declared });
    return read.value === undefined ? { ...read, value: parseJsonText('') } : read;
  }
  const room = underWay.takeBody(declared ?? 0);
  if (room !== undefined) await room;
  const text = await bodyDeadlines.read(request.text(), declared ?? 0, tooSlow);
  if (text.length > maxBytes) throw tooLarge(maxBytes);
  const seen = checkJsonBounds(text);
  if (seen?.isLarge === true) return { value: await asJson(() => parseJsonInSlices(text)), isLarge: true };
  const value = parseJsonText(text);
  if (seen !== undefined) noteMembers(value, text, seen);
  return { value, isLarge: false };
}

function parseJsonText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw noJson(cause);
  }
}
