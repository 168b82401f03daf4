import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { piecesOfJson } from '@llm0/core/chat/write-json-in-slices';

/** The body of a native request: read whole where its cost or its signature depends on it, else handed on as it comes. */
export interface NativeBody {
  readonly bytes?: Uint8Array;
  /** The same of large JSON, in pieces. */
  readonly pieces?: Buffer[];
  readonly stream?: ReadableStream<Uint8Array>;
  /** As the caller declares it. */
  readonly length?: number;
  /** Written by this gateway. */
  readonly isJson?: boolean;
  readonly json?: JsonObject;
}

export type WrittenBody = Pick<NativeBody, 'bytes' | 'pieces' | 'length'>;

export function writeSmall(value: JsonValue): WrittenBody {
  const bytes = Buffer.from(JSON.stringify(value));
  return { bytes, length: bytes.byteLength };
}

export async function writeLarge(value: JsonValue): Promise<WrittenBody> {
  const pieces = await piecesOfJson(value);
  return { pieces, length: pieces.reduce((sum, { byteLength }) => sum + byteLength, 0) };
}

/** The same body with another JSON in it. */
export async function rewrite(body: NativeBody, json: JsonObject): Promise<NativeBody> {
  const written = body.pieces === undefined ? writeSmall(json) : await writeLarge(json);
  return { ...body, ...written, json };
}
