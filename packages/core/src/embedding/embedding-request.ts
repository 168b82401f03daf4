import type { JsonObject } from '../chat/json';

/** A text, or the tokens of one by the model's own vocabulary. */
export type EmbeddingInput = string | readonly number[];

/** An embedding request in canonical form: dialects decode to it and providers encode from it. */
export interface EmbeddingRequest {
  /** Model name exactly as asked for (may be an alias or `provider/model`). */
  readonly model: string;
  /** Never empty; one vector each, in this order. */
  readonly inputs: readonly EmbeddingInput[];
  readonly dimensions?: number;
  readonly user?: string;
  /** Top-level fields the gateway does not know, by name. */
  readonly extra: Readonly<JsonObject>;
  /** SHA-256 (hex) of a large request's `extra` and of each input. */
  readonly digest?: { readonly extra: string; readonly inputs: readonly string[] };
}

/** Bytes of text, and tokens that are counted already. */
export function weighInputs(inputs: readonly EmbeddingInput[]): {
  readonly textBytes: number;
  readonly tokens: number;
} {
  let textBytes = 0;
  let tokens = 0;
  for (const input of inputs) {
    if (typeof input === 'string') textBytes += Buffer.byteLength(input);
    else tokens += input.length;
  }
  return { textBytes, tokens };
}

/** Tokens the vendor adds to each input at most. */
const SPECIAL_TOKENS = 2;
const BYTES_PER_TOKEN_HOLD = 3;

/** Upper estimate of the tokens billed, for the hold. `strict`: one byte = one token. */
export function estimateInputTokens(inputs: readonly EmbeddingInput[], strict: boolean): number {
  const { textBytes, tokens } = weighInputs(inputs);
  const text = strict ? textBytes : Math.ceil(textBytes / BYTES_PER_TOKEN_HOLD);
  return text + tokens + SPECIAL_TOKENS * inputs.length;
}
