import { Random } from '../../chaos/random';
import type { AdminGrammar } from './admin-requests';
import { edgeText, edgeValue, type Json, pick, writeJson } from './edge-values';
import { mutateBytes, mutateJson } from './mutate';
import { SAMPLES, type SampleRequest } from './sample-requests';

/** One malformed request. */
export interface FuzzCase {
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** What the vendor does with its answer. */
  readonly vendor: 'honest' | 'mutating';
  /** Numbers for the vendor's mutations. */
  readonly seed: number;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND'];
const HEADER_NAMES = [
  ...['content-type', 'content-encoding', 'accept', 'accept-encoding', 'x-customer-id', 'x-llm0-team', 'x-request-id'],
  ...[
    'x-llm0-cache',
    'x-llm0-cache-ttl',
    'x-llm0-cache-threshold',
    'x-llm0-drop-params',
    'x-llm0-run-id',
    'idempotency-key',
  ],
  ...['cache-control', 'if-match', 'if-none-match', 'range', 'origin', 'cookie', 'anthropic-version', 'anthropic-beta'],
  ...['x-goog-fieldmask', 'x-forwarded-for', 'traceparent', 'expect', 'last-event-id', 'content-length', 'x-api-key'],
  ...['sec-fetch-site', 'forwarded', 'authorization', 'transfer-encoding', 'x-http-method-override', 'user-agent'],
];
const HEADER_VALUES = [
  ...[
    'application/json; charset=utf-16',
    'text/plain',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
    'gzip',
    'br',
  ],
  ...[
    'zstd',
    '*/*',
    'identity;q=0',
    'no-store',
    'max-age=-1',
    'off',
    'refresh',
    '0',
    '-1',
    '1e9',
    'NaN',
    'bytes=0-',
    '"*"',
    '*',
  ],
  ...[
    'W/"x"',
    'null',
    'cross-site',
    'Bearer',
    'Basic Og==',
    'Bearer llm0_live_',
    'chunked',
    '100-continue',
    ',',
    ';',
    '=',
    '""',
  ],
];
const ADMIN_SHARE = 0.15;
const MUTATING_VENDOR_SHARE = 0.1;

export interface Credentials {
  readonly adminToken: string;
  readonly apiKeys: readonly string[];
}

/** Always the same one for the same seed and index. */
export function makeCase(seed: number, index: number, grammar: AdminGrammar, credentials: Credentials): FuzzCase {
  const random = new Random((Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0);
  for (let i = 0; i < 3; i++) random.next();
  const sample = random.next() < ADMIN_SHARE ? grammar.make(random) : pick(random, SAMPLES);
  const token = sample.as === 'admin' ? credentials.adminToken : pick(random, credentials.apiKeys);
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  const body = makeBody(random, sample);
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (random.next() < 0.3) {
    for (let i = random.next() * 3; i > 0; i--) headers[pick(random, HEADER_NAMES)] = headerValue(random);
  }
  return {
    index,
    method: random.next() < 0.05 ? pick(random, METHODS) : sample.method,
    path: random.next() < 0.1 ? mutatePath(random, sample.path) : sample.path,
    ...{ headers, body, vendor: random.next() < MUTATING_VENDOR_SHARE ? 'mutating' : 'honest' },
    seed: Math.floor(random.next() * 2 ** 32),
  };
}

function makeBody(random: Random, { body, as }: SampleRequest): Buffer | undefined {
  if (body === undefined) return random.next() < 0.05 ? Buffer.from(writeJson(edgeValue(random))) : undefined;
  // What the grammar makes is odd enough for the most part.
  const changed: Json = as === 'admin' && random.next() < 0.7 ? body : mutateJson(random, body);
  const bytes = Buffer.from(writeJson(changed));
  return random.next() < 0.1 ? mutateBytes(random, bytes) : bytes;
}

/** Any text that a header can hold. */
const headerValue = (random: Random) =>
  (random.next() < 0.6 ? pick(random, HEADER_VALUES) : edgeText(random)).replace(/[^\x20-\x7e]/g, '').trim();

function mutatePath(random: Random, path: string): string {
  const parts = path.split('/');
  const position = 1 + Math.floor(random.next() * (parts.length - 1));
  const odd = encodeURIComponent(edgeText(random).toWellFormed());
  const kind = Math.floor(random.next() * 6);
  if (kind === 0) parts[position] = odd;
  if (kind === 1) parts.splice(position, 0, odd);
  if (kind === 2) parts.splice(position, 1);
  if (kind === 3) return `${path}${path.includes('?') ? '&' : '?'}${odd}=${odd}`;
  if (kind === 4) return `${path}/`;
  if (kind === 5)
    parts[position] = `${parts[position]}${pick(random, ['%', '%zz', '%00', '%2f', ';', ':x', '.', ' ', '#'])}`;
  return parts.join('/');
}
