import { isObject, type JsonObject, type JsonValue, parseJson } from '@llm0/core/chat/json';
import { checkJsonBounds, checkJsonBoundsInTurns } from '@llm0/core/chat/json-bounds';
import { decodeInTurns, LARGE_JSON_LENGTH, parseJsonInTurns } from '@llm0/core/chat/json-in-turns';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { NativePath, NativeShape, PassthroughProvider } from '@llm0/providers/transport/call-passthrough';
import { boundedBody, tooLarge } from '../exchange/bounded-body';
import type { NativeJob } from './plan-passthrough';

/** The body of a native request: read whole where its cost or its signature depends on it, else handed on as it comes. */
export interface NativeBody {
  readonly bytes?: Uint8Array;
  readonly stream?: ReadableStream<Uint8Array>;
  /** As the caller declares it. */
  readonly length?: number;
  readonly json?: JsonObject;
}

export interface NativeTarget {
  readonly provider: string;
  /** Begins with a slash; as it came. */
  readonly native: NativePath;
  /** The name the caller used, where the path has the vendor's. */
  readonly askedModel?: string;
}

const PREFIX = '/passthrough/';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** The first segment behind the prefix. */
export function providerName(request: Request): string {
  return new URL(request.url).pathname.slice(PREFIX.length).split('/', 1)[0] ?? '';
}

/** `/passthrough/{provider}/…` → provider and the vendor's path. */
export function readTarget(request: Request): NativeTarget {
  if (!METHODS.has(request.method)) {
    throw new GatewayError('method_not_allowed', `${request.method} is not passed on.`);
  }
  if (request.headers.has('upgrade')) {
    throw new GatewayError('invalid_request', 'Connections that change their protocol are not passed on.');
  }
  const url = new URL(request.url);
  const rest = url.pathname.slice(PREFIX.length);
  const slash = rest.indexOf('/');
  const provider = providerName(request);
  const query = new URLSearchParams(url.search);
  // Keys belong into headers; one of this gateway's own must never reach a vendor.
  query.delete('key');
  return { provider, native: { path: slash === -1 ? '/' : rest.slice(slash), query } };
}

export interface BodyRules {
  readonly maxBytes: number;
  /** See `BodyBounds`. */
  readonly carry?: (bytes: number) => void;
  /** Needed whole, whatever it is. */
  readonly isWhole: boolean;
  /** By default what its type says. */
  readonly isJson?: boolean;
}

const isJsonType = ({ headers }: Request): boolean =>
  /^application\/(?:[\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '');

/** Bounded by `maxBytes`; throws `request_too_large`, or `invalid_json` where the endpoint takes JSON only. */
export async function readBody(
  request: Request,
  { maxBytes, carry, isWhole, isJson = isJsonType(request) }: BodyRules,
): Promise<NativeBody> {
  const declared = request.headers.get('content-length');
  const length = declared === null ? undefined : Number(declared);
  if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null || request.method === 'GET' || request.method === 'HEAD') return {};
  if (!isJson && !isWhole) return { stream: boundedBody(request.body, { maxBytes }), length };
  const bytes = await new Response(boundedBody(request.body, { maxBytes, carry })).bytes();
  return { bytes, length: bytes.byteLength, json: isJson ? await parse(bytes) : undefined };
}

/** undefined for anything but an object: whether that is wrong is the vendor's affair. */
async function parse(bytes: Uint8Array): Promise<JsonObject | undefined> {
  const value = bytes.byteLength > LARGE_JSON_LENGTH ? await parseLarge(bytes) : parseSmall(bytes);
  return isObject(value) ? value : undefined;
}

function parseSmall(bytes: Uint8Array): JsonValue | undefined {
  const text = new TextDecoder().decode(bytes);
  checkJsonBounds(text);
  return parseJson(text);
}

async function parseLarge(bytes: Uint8Array): Promise<JsonValue | undefined> {
  const text = await decodeInTurns(bytes);
  await checkJsonBoundsInTurns(text);
  return parseJsonInTurns(text).catch(() => undefined);
}

/** What a native request asks for, as far as its shape is known. */
export function describeNative(
  request: Request,
  {
    provider,
    native,
    askedModel,
  }: { readonly provider: PassthroughProvider } & Pick<NativeTarget, 'native' | 'askedModel'>,
  body: NativeBody,
): NativeJob {
  const { method } = request;
  const shape = method === 'POST' ? provider.passthrough.shapes.find((one) => one.path.test(native.path)) : undefined;
  const namedModel = shape && modelOf(shape, native.path, body.json);
  return {
    ...{ provider: provider.name, method, path: native.path, shape, namedModel },
    model: askedModel ?? namedModel ?? `${method} ${native.path}`,
    stream: body.json?.stream === true || /stream/i.test(native.path),
    body: body.json,
    bodyBytes: body.bytes?.byteLength ?? body.length ?? 0,
  };
}

function modelOf(shape: NativeShape, path: string, body: JsonObject | undefined): string | undefined {
  const inPath = shape.path.exec(path)?.groups?.model;
  if (inPath !== undefined) return decodeURIComponent(inPath);
  const model = body?.model;
  return typeof model === 'string' && model !== '' ? model : undefined;
}
