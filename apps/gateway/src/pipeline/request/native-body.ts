import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { piecesOfJson } from '@llm0/core/chat/write-json-in-slices';

/** Body of a native request: read whole if cost or signature depends on it, else streamed. */
export interface NativeBody {
  readonly bytes?: Uint8Array;
  /** Large JSON in pieces. */
  readonly pieces?: Buffer[];
  readonly stream?: ReadableStream<Uint8Array>;
  /** Declared length. */
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

/** The body with different JSON. */
export async function rewrite(body: NativeBody, json: JsonObject): Promise<NativeBody> {
  const written = body.pieces === undefined ? writeSmall(json) : await writeLarge(json);
  return { ...body, ...written, json };
}
