import type { Services } from '../../services/contract';
import { boundedBody, tooLarge } from '../request/bounded-body';

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
  const declared = headers.get('content-length');
  if (Number(declared ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (body === null || method === 'GET' || method === 'HEAD') return undefined;
  // Simple services read no chunks: who declares a length is passed on with it.
  const length = declared !== null && /^\d{1,15}$/.test(declared) ? declared : undefined;
  return { stream: boundedBody(body, { maxBytes }), length };
}
