import { digestRequest } from '@llm0/core/cache/cache-key';
import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { checkJsonBounds } from '@llm0/core/chat/json-bounds';
import { LARGE_JSON_LENGTH } from '@llm0/core/chat/json-in-turns';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { nextTurn } from '@llm0/core/waits/in-turns';
import type { Services } from '../../services/contract';
import { type BodyBounds, boundedBody, takeRoom, tooLarge, tooSlow } from './bounded-body';
import { noJson, type ReadJson, readJson } from './read-json';

export interface ReadBody {
  readonly body: JsonObject;
  /** All further work on it is done in turns. */
  readonly isLarge: boolean;
}

/** Reads and parses a request body, bounded by MAX_BODY_BYTES. Throws `request_too_large`, `overloaded` or `invalid_json`. */
export async function readRequestBody(
  services: Pick<Services, 'config' | 'openReads'>,
  request: Request,
  { carry, reserve }: Required<Pick<BodyBounds, 'carry' | 'reserve'>>,
): Promise<ReadBody> {
  const { value, isLarge } = await readValue(services, request, { carry, reserve });
  if (!isObject(value)) {
    throw new GatewayError('invalid_request', 'The request body must be a JSON object.');
  }
  return { body: value, isLarge };
}

/** Whether a body is read in pieces: also where its length is not declared. */
function mayBeLarge({ headers }: Request): boolean {
  const declared = headers.get('content-length');
  return declared === null || Number(declared) > LARGE_JSON_LENGTH;
}

/** A large request with what its cache key needs of it. */
export async function withDigest(request: ChatRequest): Promise<ChatRequest> {
  await nextTurn();
  const digest = await digestRequest(request);
  await nextTurn();
  return { ...request, digest };
}

async function readValue(
  { config, openReads }: Pick<Services, 'config' | 'openReads'>,
  request: Request,
  rules: Pick<BodyBounds, 'carry' | 'reserve'>,
): Promise<ReadJson> {
  const { maxBodyBytes: maxBytes } = config;
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  // The body as a stream is made when it is first looked at, which costs more than all the rest of reading a small one.
  if (mayBeLarge(request) && request.body !== null) {
    const bytes = declared === null ? undefined : Number(declared);
    const room = await takeRoom(bytes, rules);
    const read = await readJson(boundedBody(request.body, { maxBytes, ...room }), { fatal: false, bytes });
    return read.value === undefined ? { ...read, value: parseSmall('') } : read;
  }
  const text = await openReads.read(request.text(), Number(declared), tooSlow);
  if (text.length > maxBytes) throw tooLarge(maxBytes);
  checkJsonBounds(text);
  return { value: parseSmall(text), isLarge: false };
}

function parseSmall(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw noJson(cause);
  }
}
