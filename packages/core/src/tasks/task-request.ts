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
  /** Sent on as it comes, if it is large. */
  readonly file?: SentFile;
}

/** A file of a request, as its caller sent it. */
export interface SentFile {
  readonly name: string;
  readonly type: string;
  /** Pieces in order; the first ones where a rest follows. */
  readonly pieces: readonly Uint8Array[];
  readonly rest?: FileRest;
  /** Bytes of all of it, at most; set where a rest follows. */
  readonly size?: number;
}

/** The rest of a large file: still on its way, or on disk. */
export interface FileRest {
  /** Of the form that brings it; absent where its length is unknown. */
  readonly frame?: FormFrame | undefined;
  /** Its bytes in order. Throws what is wrong with the form. */
  open(): AsyncIterable<Uint8Array>;
  /** Fields of the form behind the file, known once all bytes were read. */
  later(): readonly (readonly [name: string, value: string])[];
  /** True once it was opened and can't be again. */
  isSpent(): boolean;
  /** True until its last byte was read: no vendor has the whole form. */
  isCutOff(): boolean;
  /** Notes a fault of the caller's, and gives it back. */
  blame(error: Error): Error;
  /** The caller's fault, found while it was read. */
  fault(): Error | undefined;
}

/** How much of a form is still to come. */
export interface FormFrame {
  /** The rest of the file, the fields behind it and the end. */
  readonly bytes: number;
  readonly boundaryLength: number;
}

export const sizeOf = ({ pieces, size }: Pick<SentFile, 'pieces' | 'size'>): number =>
  size ?? pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);

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
