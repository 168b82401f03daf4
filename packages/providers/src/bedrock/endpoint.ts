import { GatewayError } from '@llm0/core/errors/gateway-error';
import { sign } from 'aws4';
import type { ProviderConnection, UpstreamRequest } from '../provider-request';
import { LargeJson } from '../translation/json-body';
import { PROVIDER } from './wire';

const SERVICE = 'bedrock';
const DEFAULT_REGION = 'us-east-1';
const SEPARATOR = ':';

export interface ConverseTarget {
  readonly connection: ProviderConnection;
  readonly model: string;
  readonly stream: boolean;
  readonly body: string | Uint8Array | LargeJson;
}

/**
 * A signed request. The key is `<access key id>:<secret>[:<session token>]` for Signature Version 4, or an API key of
 * the vendor's own (bearer). `options.region` of the connection; without a base URL it names the host too.
 * Sources: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html,
 * https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html
 */
export function converseRequest({ connection, model, stream, body }: ConverseTarget): Omit<UpstreamRequest, 'dropped'> {
  const accept = stream ? 'application/vnd.amazon.eventstream' : 'application/json';
  return modelRequest({ connection, model, body, accept, action: stream ? 'converse-stream' : 'converse' });
}

/** A signed request in a model's own format. */
export function invokeRequest(target: Omit<ConverseTarget, 'stream'>): Omit<UpstreamRequest, 'dropped'> {
  return modelRequest({ ...target, accept: 'application/json', action: 'invoke' });
}

interface ModelAction extends Omit<ConverseTarget, 'stream'> {
  readonly accept: string;
  readonly action: 'converse' | 'converse-stream' | 'invoke';
}

function modelRequest({ connection, model, body, accept, action }: ModelAction): Omit<UpstreamRequest, 'dropped'> {
  const { region, path } = readPlace(connection, model);
  const url = new URL(`${runtimeRoot(connection, region)}/model/${path}/${action}`);
  const headers = { 'content-type': 'application/json', accept, ...connection.headers };
  const method = 'POST';
  const unsigned = { url, method, headers, region };
  if (body instanceof LargeJson) {
    const sign = (bodyHash: string) => authorize({ ...unsigned, body: { hash: bodyHash } }, connection);
    return { url: url.href, method, headers, body, sign };
  }
  return { url: url.href, method, headers: { ...headers, ...authorize({ ...unsigned, body }, connection) }, body };
}

/** URL of a region's models, without a trailing slash. */
export function runtimeRoot(connection: ProviderConnection, region = regionOf(connection)): string {
  const root = connection.baseUrl === '' ? `https://bedrock-runtime.${region}.amazonaws.com` : connection.baseUrl;
  return root.replace(/\/+$/, '');
}

export function regionOf(connection: ProviderConnection): string {
  return connection.options?.region ?? DEFAULT_REGION;
}

/** Some price lists put the region in front: `eu-west-1/anthropic.claude-…`. */
const REGIONAL = /^([a-z]{2}(?:-gov)?-[a-z]+-\d)\/(.+)$/;

function readPlace(connection: ProviderConnection, model: string): { readonly region: string; readonly path: string } {
  const [, named, rest] = REGIONAL.exec(model) ?? [];
  const region = named ?? regionOf(connection);
  return { region, path: encodeURIComponent(rest ?? model) };
}

export interface Unsigned {
  readonly url: URL;
  readonly method: string;
  /** `hash`: its SHA-256 (hex), for a body too large to hash at once. */
  readonly body: string | Uint8Array | { readonly hash: string };
  readonly headers: Readonly<Record<string, string>>;
  readonly region: string;
}

/** The headers that authenticate a request, for either kind of key. */
export function authorize(unsigned: Unsigned, { apiKey }: ProviderConnection): Record<string, string> {
  const { url, method, body, headers, region } = unsigned;
  if (apiKey === undefined) return {};
  const credentials = readCredentials(apiKey);
  if (credentials === undefined) return { authorization: `Bearer ${apiKey}` };
  const contentType = { 'content-type': headers['content-type'] ?? 'application/json' };
  const isHashed = typeof body === 'object' && 'hash' in body;
  const signed = sign(
    {
      host: url.host,
      path: url.pathname + url.search,
      method,
      service: SERVICE,
      region,
      // Signs only headers that no proxy rewrites.
      headers: isHashed ? { ...contentType, 'x-amz-content-sha256': body.hash } : contentType,
      body: isHashed ? undefined : typeof body === 'string' ? body : Buffer.from(body),
    },
    credentials,
  );
  const wanted: Record<string, string> = {};
  for (const [name, value] of Object.entries(signed.headers ?? {})) {
    if (/^(?:authorization|x-amz-.*)$/i.test(name) && typeof value === 'string') wanted[name.toLowerCase()] = value;
  }
  return wanted;
}

/** A bearer key or none; other keys sign. */
export function isBearer({ apiKey }: ProviderConnection): boolean {
  return apiKey === undefined || readCredentials(apiKey) === undefined;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Prefix of the vendor's own API keys; those may contain colons too. */
const BEARER_KEY = /^bedrock-api-key-/;
const ACCESS_KEY_ID = /^A[KS]IA[0-9A-Z]{12,}$/;

/** undefined for a bearer key. */
function readCredentials(key: string): Credentials | undefined {
  const [accessKeyId = '', secretAccessKey = '', ...token] = key.split(SEPARATOR);
  if (ACCESS_KEY_ID.test(accessKeyId) && secretAccessKey === '') {
    const message = `The key of ${PROVIDER} must be "<access key id>:<secret access key>" or a Bedrock API key.`;
    throw new GatewayError('upstream_error', message, { failure: 'auth' });
  }
  if (secretAccessKey === '' || BEARER_KEY.test(key)) return undefined;
  return { accessKeyId, secretAccessKey, ...(token.length === 0 ? {} : { sessionToken: token.join(SEPARATOR) }) };
}
