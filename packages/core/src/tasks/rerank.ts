import type { JsonObject } from '../chat/json';
import { type Usage, ZERO_USAGE } from '../chat/usage';
import type { TokenPrices } from '../pricing/price-book';
import { boundTokens, type TaskRequest } from './task-request';

export interface RerankRequest extends TaskRequest {
  readonly stream: false;
  readonly query: string;
  /** Never empty. */
  readonly documents: readonly string[];
  readonly topN?: number | undefined;
  readonly maxTokensPerDocument?: number | undefined;
}

/** `index`: position of the document in the request; best first. */
export interface RankedDocument extends JsonObject {
  index: number;
  score: number;
}

export interface RerankAnswer extends JsonObject {
  results: RankedDocument[];
}

/** A search unit is a query with up to 100 pieces of documents of up to 500 tokens, the query included. */
const PIECES_PER_SEARCH = 100;
const TOKENS_PER_PIECE = 500;
/** Tokens the vendor adds to each pair at most. */
const SPECIAL_TOKENS = 4;

/** The most a vendor bills: searches where the model has a price for them, else tokens of each pair. */
export function boundRerank(request: RerankRequest, prices: TokenPrices, strict: boolean): Usage {
  const { query, documents } = request;
  const queryTokens = boundTokens([query], strict);
  const sizes = documents.map((text) => boundTokens([text], strict));
  const inputTokens = sizes.reduce((sum, size) => sum + size + queryTokens + SPECIAL_TOKENS, 0);
  if (prices.search === undefined) return { ...ZERO_USAGE, inputTokens };
  const room = Math.max(1, TOKENS_PER_PIECE - queryTokens);
  const pieces = sizes.reduce((sum, size) => sum + Math.max(1, Math.ceil(size / room)), 0);
  const searches = Math.ceil(pieces / PIECES_PER_SEARCH);
  return { ...ZERO_USAGE, ...(prices.input === undefined ? {} : { inputTokens }), units: { searches } };
}

/** The best documents first, at most `topN`. */
export function rankDocuments(scores: readonly number[], topN = scores.length): RankedDocument[] {
  return scores
    .map((score, index) => ({ index, score }))
    .sort((a, b) => b.score - a.score)
    .slice(0, topN);
}
