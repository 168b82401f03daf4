import { boundedBody, declaredLength } from '@llm0/core/async/bounded-body';
import type { Services } from '../../services/contract';

/** A body on its way, and its length where the caller declares it. */
export interface SentBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly length: string | undefined;
}

/** The caller's body, within its bound and no slower than it may be; read as fast as the backend takes it. */
export function readStream(
  { config }: Pick<Services, 'config'>,
  { headers, body, method }: Request,
): SentBody | undefined {
  const { maxBodyBytes: maxBytes } = config;
  const length = declaredLength(headers, maxBytes);
  if (body === null || method === 'GET' || method === 'HEAD') return undefined;
  // Simple services can't read chunks, so a declared length passes.
  return { stream: boundedBody(body, { maxBytes }), length: length === undefined ? undefined : String(length) };
}
