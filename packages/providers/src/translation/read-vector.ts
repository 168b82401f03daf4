import type { JsonValue } from '@llm0/core/chat/json';
import { upstreamFailure } from '../transport/upstream-failure';

const BYTES_PER_FLOAT = 4;

/** A vector as numbers, or as base64 of little-endian 32-bit floats; throws `malformed` for anything else. */
export function readVector(provider: string, value: JsonValue | undefined): Float32Array {
  const vector = typeof value === 'string' ? fromBase64(value) : fromNumbers(value);
  if (vector === undefined) throw upstreamFailure('malformed', provider, 'sent an embedding that could not be read.');
  return vector;
}

function fromNumbers(value: JsonValue | undefined): Float32Array | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const vector = new Float32Array(value.length);
  for (let index = 0; index < value.length; index++) {
    const number = value[index];
    if (typeof number !== 'number') return undefined;
    vector[index] = number;
  }
  return vector;
}

/** undefined where the text holds no whole number of floats. */
export function fromBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % BYTES_PER_FLOAT !== 0) return undefined;
  // Copied: a view needs an aligned start.
  return new Float32Array(new Uint8Array(bytes).buffer);
}
