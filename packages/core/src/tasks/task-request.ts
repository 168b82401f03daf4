import type { JsonObject } from '../chat/json';
import { GatewayError } from '../errors/gateway-error';

/** A request that a model answers with neither text nor vectors. Dialects decode to it and providers encode from it. */
export interface TaskRequest {
  /** Model name exactly as asked for (may be an alias or `provider/model`). */
  readonly model: string;
  /** The answer is wanted event by event. */
  readonly stream: boolean;
  readonly user?: string | undefined;
  /** Top-level fields the gateway does not know, by name. */
  readonly extra: Readonly<JsonObject>;
}

/** A file of a request, as its caller sent it. */
export interface SentFile {
  readonly name: string;
  readonly type: string;
  /** Pieces in order. */
  readonly pieces: readonly Uint8Array[];
}

export const sizeOf = ({ pieces }: Pick<SentFile, 'pieces'>): number =>
  pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Strict caps refuse what has no bound. */
export function refuseUnbounded(param: string, what: string): GatewayError {
  const message = `This project has strict caps: ${what} has no bound on its cost.`;
  return new GatewayError('request_over_limit', message, { param });
}

/** Vendors count about four bytes of text as a token; a strict bound takes each byte for one. */
export function boundTokens(texts: readonly string[], strict: boolean): number {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return strict ? bytes : Math.ceil(bytes / BYTES_PER_TOKEN_HOLD);
}

const BYTES_PER_TOKEN_HOLD = 3;
