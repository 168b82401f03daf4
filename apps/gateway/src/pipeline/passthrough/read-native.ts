import { boundedBody, declaredLength, type TakeBytes, takeRoom } from '@llm0/core/async/bounded-body';
import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { NativePath, NativeShape, PassthroughProvider } from '@llm0/providers/transport/call-passthrough';
import { type NativeBody, writeLarge, writeSmall } from '../request/native-body';
import { asObject, readJson } from '../request/read-request';
import { refuseWebSocket } from '../request/refuse-websocket';
import { findShape } from './allow-native';
import type { NativeJob } from './plan-passthrough';

export interface NativeTarget {
  readonly provider: string;
  /** The original path with its leading slash. */
  readonly native: NativePath;
  /** The name the caller used, where the path has the vendor's. */
  readonly askedModel?: string;
  /** The gateway's own endpoint, enabled for every key. */
  readonly isOwn?: true;
}

const PREFIX = '/passthrough/';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** The first segment after the prefix. */
export function providerName(request: Request): string {
  return new URL(request.url).pathname.slice(PREFIX.length).split('/', 1)[0] ?? '';
}

/** `/passthrough/{provider}/…` → provider and the vendor's path. */
export function readTarget(request: Request): NativeTarget {
  if (!METHODS.has(request.method)) {
    throw new GatewayError('method_not_allowed', `${request.method} isn't forwarded.`);
  }
  refuseWebSocket(request.headers, 426);
  const url = new URL(request.url);
  const rest = url.pathname.slice(PREFIX.length);
  const slash = rest.indexOf('/');
  const provider = providerName(request);
  return { provider, native: { path: slash === -1 ? '/' : rest.slice(slash), query: ownQuery(url) } };
}

/** Keys belong into headers, where they are replaced; the others would make another request of the one that was checked. */
const NEVER_SENT = new Set([
  'key',
  'api_key',
  'api-key',
  'access_token',
  'oauth_token',
  '_method',
  '$httpmethod',
  '$httpheaders',
]);

/** Forwarded part of the caller's query. */
export function ownQuery(url: URL): URLSearchParams {
  const query = new URLSearchParams(url.search);
  for (const name of [...query.keys()]) if (NEVER_SENT.has(name.toLowerCase())) query.delete(name);
  return query;
}

export interface BodyRules {
  readonly maxBytes: number;
  /** See `BodyBounds`. */
  readonly take?: TakeBytes;
  /** True if it must be read whole. */
  readonly isWhole: boolean;
  /** True for a JSON object, whatever its content type. */
  readonly isObject: boolean;
}

const isJsonType = ({ headers }: Request): boolean =>
  /^application\/(?:[\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '');

/**
 * Reads at most `maxBytes`; throws `request_too_large` or `invalid_json`. Encodes JSON again, so that the vendor reads
 * the same: no duplicate names, no other encoding.
 */
export async function readBody(
  request: Request,
  { maxBytes, take, isWhole, isObject: needsObject }: BodyRules,
): Promise<NativeBody> {
  const length = declaredLength(request.headers, maxBytes);
  if (request.body === null || request.method === 'GET' || request.method === 'HEAD') {
    if (needsObject) asObject(undefined);
    return {};
  }
  const isJson = needsObject || isJsonType(request);
  if (!isJson && !isWhole) return { stream: boundedBody(request.body, { maxBytes }), length };
  const body = boundedBody(request.body, { maxBytes, ...(await takeRoom(length, { take })) });
  if (!isJson) {
    const bytes = Buffer.concat(await Array.fromAsync(body));
    return { bytes, length: bytes.byteLength };
  }
  const { value, isLarge } = await readJson(body, { fatal: true, bytes: length });
  if (value === undefined && !needsObject) return { bytes: Buffer.alloc(0), length: 0 };
  const given = needsObject ? asObject(value) : (value as JsonValue);
  const written = isLarge ? await writeLarge(given) : writeSmall(given);
  return { ...written, isJson, json: isObject(given) ? given : undefined };
}

/** Describes a native request, as far as its shape is known. */
export function describeNative(
  request: Request,
  { provider, native, askedModel, isOwn }: Omit<NativeTarget, 'provider'> & { readonly provider: PassthroughProvider },
  body: NativeBody,
): NativeJob {
  const asked = { method: request.method, path: native.path };
  const shape = findShape(provider, asked);
  const namedModel = shape && modelOf(shape, native.path, body.json);
  return {
    ...{ ...asked, provider: provider.name, isOwn, shape, namedModel },
    model: askedModel ?? namedModel ?? `${asked.method} ${native.path}`,
    stream: body.json?.stream === true || /stream/i.test(native.path),
    body: body.json,
    bodyBytes: body.length ?? 0,
    format: shape?.format ?? provider.wireFormat,
  };
}

function modelOf(shape: NativeShape, path: string, body: JsonObject | undefined): string | undefined {
  const inPath = shape.path.exec(path)?.groups?.model;
  if (inPath !== undefined) return decodeURIComponent(inPath);
  const model = body?.model;
  return typeof model === 'string' && model !== '' ? model : undefined;
}
