import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { MiddlewareHandler } from 'hono';
import { takesEncoding } from '../process/takes-encoding';
import type { AdminEnv } from './admin-services';

/** Smaller ones fit into a packet or two as they are. */
const MIN_BYTES = 1000;
/** A fifth smaller than the fastest level, for a millisecond more in a background thread. */
const LEVEL = 6;
const compress = promisify(gzip);

/** JSON that was asked for goes out compressed, made so in another thread, where the client takes it. */
export const compressAnswers: MiddlewareHandler<AdminEnv> = async (c, next) => {
  await next();
  if (c.req.method !== 'GET' || !c.res.headers.get('content-type')?.startsWith('application/json')) return;
  c.header('Vary', 'Accept-Encoding', { append: true });
  if (!takesEncoding(c.req.header('accept-encoding'), 'gzip')) return;
  const plain = c.res;
  const bytes = await plain.arrayBuffer();
  const isSmall = bytes.byteLength < MIN_BYTES;
  const body = isSmall ? bytes : new Uint8Array(await compress(bytes, { level: LEVEL }));
  c.res = new Response(body, plain);
  if (!isSmall) c.res.headers.set('Content-Encoding', 'gzip');
  c.res.headers.delete('Content-Length');
};
