import type { Services } from '../../services/contract';
import { boundedBody, tooLarge } from '../exchange/bounded-body';

/** The caller's body, within its bound and no slower than it may be; read as fast as the backend takes it. */
export function readStream(
  { config }: Pick<Services, 'config'>,
  { headers, body, method }: Request,
): ReadableStream<Uint8Array> | undefined {
  const { maxBodyBytes: maxBytes } = config;
  if (Number(headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (body === null || method === 'GET' || method === 'HEAD') return undefined;
  return boundedBody(body, { maxBytes });
}
