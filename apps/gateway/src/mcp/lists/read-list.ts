// A server with an endless, oversized or repeating list has no list at all.
import { isObject, type JsonObject } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { upstreamAnswerError, upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import type { Upstream } from '../upstream/upstream';
import { RPC } from '../wire/json-rpc';
import { type ClientFacts, LISTING_CAPABILITIES } from '../wire/protocol';

export type ListKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

export const LISTS = {
  tools: { method: 'tools/list', ability: 'tools' },
  prompts: { method: 'prompts/list', ability: 'prompts' },
  resources: { method: 'resources/list', ability: 'resources' },
  resourceTemplates: { method: 'resources/templates/list', ability: 'resources' },
} as const satisfies Record<ListKind, { readonly method: string; readonly ability: string }>;

export interface ReadList {
  readonly items: readonly JsonObject[];
  /** Lifetime by the server; undefined without one. */
  readonly ttlMs: number | undefined;
}

const MAX_PAGES = 50;
const MAX_ITEMS = 2000;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_CURSOR_LENGTH = 4096;

const GATEWAY: ClientFacts = { era: 'modern', version: '', capabilities: LISTING_CAPABILITIES };

/** All pages of a server's list. Throws for a failure or an endless list. */
export async function readList(
  upstream: Upstream,
  alias: string,
  kind: ListKind,
  signal: AbortSignal,
): Promise<ReadList> {
  const { method, ability } = LISTS[kind];
  const { capabilities } = await upstream.facts();
  if (!isObject(capabilities[ability])) return { items: [], ttlMs: undefined };
  const items: JsonObject[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  let ttlMs: number | undefined;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const read = await readPage(upstream, { alias, method, cursor, signal });
    if (read === undefined) return { items: [], ttlMs: undefined };
    const { result } = read;
    bytes += read.bytes;
    const found = result[kind];
    if (!Array.isArray(found)) throw endless(alias, method, 'has no list in its answer');
    items.push(...found.filter(isObject));
    ttlMs = shorter(ttlMs, result.ttlMs);
    if (items.length > MAX_ITEMS) throw endless(alias, method, `lists more than ${MAX_ITEMS}`);
    if (bytes > MAX_BYTES) throw endless(alias, method, `lists more than ${MAX_BYTES} bytes`);
    const { nextCursor } = result;
    if (typeof nextCursor !== 'string') return { items, ttlMs };
    if (seen.has(nextCursor) || nextCursor.length > MAX_CURSOR_LENGTH)
      throw endless(alias, method, 'repeats its pages');
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  throw endless(alias, method, `has more than ${MAX_PAGES} pages`);
}

const shorter = (known: number | undefined, told: unknown): number | undefined =>
  typeof told === 'number' && told >= 0 ? Math.min(known ?? Number.POSITIVE_INFINITY, told) : known;

const endless = (alias: string, method: string, why: string): GatewayError =>
  upstreamFailure('malformed', alias, `${why} (${method}).`);

interface Page {
  readonly alias: string;
  readonly method: string;
  readonly cursor: string | undefined;
  readonly signal: AbortSignal;
}

/** undefined if the server doesn't implement the method, despite its capabilities. */
async function readPage(upstream: Upstream, { alias, method, cursor, signal }: Page) {
  const params: JsonObject = cursor === undefined ? {} : { cursor };
  const answer = await upstream.ask({ method, params, client: GATEWAY, signal, maxBytes: MAX_PAGE_BYTES });
  try {
    for (let part = await answer.next(); part !== undefined; part = await answer.next()) {
      if (part.kind !== 'response') continue;
      const { result, error } = part.response;
      if (error?.code === RPC.methodNotFound) return undefined;
      if (result === undefined)
        throw upstreamAnswerError({ provider: alias, status: 500, message: error?.message ?? '' });
      return { result, bytes: answer.receivedBytes };
    }
  } finally {
    answer.close();
  }
  throw upstreamFailure('truncated', alias, `did not answer ${method}.`);
}
