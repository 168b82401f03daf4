import { parseJson } from '../chat/json';
import { digestJsonInSlices } from '../chat/write-json-in-slices';
import type { EmbeddingRequest } from '../embedding/embedding-request';

/** An embedded input in the exact cache. */
export interface CachedEmbedding {
  readonly provider: string;
  readonly model: string;
  /** Little-endian 32-bit floats, base64. */
  readonly vectorBase64: string;
  /** Its part of the tokens and of the cost (integer nano-USD) of the call that made it. */
  readonly tokens: number;
  readonly costNanoUsd: number;
}

const VERSION = 'embedding-1';

export function encodeCachedEmbedding(stored: CachedEmbedding): string {
  return JSON.stringify({ v: VERSION, ...stored });
}

/** undefined for anything this version did not write: a damaged or foreign entry is a miss, never an error. */
export function decodeCachedEmbedding(text: string): CachedEmbedding | undefined {
  const value = parseJson(text) as (CachedEmbedding & { readonly v?: string }) | null | undefined;
  return value?.v === VERSION && typeof value.vectorBase64 === 'string' ? value : undefined;
}

const BATCH_VERSION = 'embeddings-1';

/** A whole answer, one entry for each input: for `IdempotencyKeys`. */
export const CACHED_EMBEDDINGS_CODEC = {
  encode: (entries: readonly CachedEmbedding[]): string => JSON.stringify({ v: BATCH_VERSION, entries }),
  decode: (text: string): readonly CachedEmbedding[] | undefined => {
    const value = parseJson(text) as { readonly v?: string; readonly entries?: readonly CachedEmbedding[] } | null;
    return value?.v === BATCH_VERSION && Array.isArray(value.entries) ? value.entries : undefined;
  },
};

/** SHA-256 (hex) of one input under everything that changes its vector. `scope`: the route, as in `exactCacheKey`. */
export function embeddingCacheKey(
  { projectId, scope }: { readonly projectId: string; readonly scope: string },
  request: EmbeddingRequest,
  index: number,
): string {
  const { digest, dimensions, inputs } = request;
  const hasher = new Bun.CryptoHasher('sha256');
  hasher.update(`${VERSION}\n${projectId}\n${scope}\n${dimensions ?? ''}\n`);
  hasher.update(digest?.extra ?? sha256(JSON.stringify(extraOf(request))));
  hasher.update(digest?.inputs[index] ?? sha256(JSON.stringify(inputs[index])));
  return hasher.digest('hex');
}

/** Digests of a large request's parts, for its keys. */
export async function digestEmbeddingRequest(
  request: EmbeddingRequest,
): Promise<NonNullable<EmbeddingRequest['digest']>> {
  const inputs: string[] = [];
  const extra = await digestJsonInSlices(extraOf(request));
  for (const input of request.inputs) inputs.push(await digestJsonInSlices(input));
  return { extra, inputs };
}

const extraOf = ({ extra }: EmbeddingRequest) =>
  Object.keys(extra)
    .sort()
    .map((name) => [name, extra[name]]);

const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex');
