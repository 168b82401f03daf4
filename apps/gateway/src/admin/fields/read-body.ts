import { readTimeMs } from '@llm0/core/async/body-deadlines';
import { inTime } from '@llm0/core/async/in-time';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { MiddlewareHandler } from 'hono';
import type { AdminEnv } from '../admin-services';
import { parseMoneyAsText } from './json-money';

const MAX_BODY_BYTES = 1024 * 1024;
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Reads the body once: bounded in length and time, JSON whatever its content type says, with amounts of money as the text they were written
 * in. Throws `request_too_large` and `invalid_json`.
 */
export const readBody: MiddlewareHandler<AdminEnv> = async (c, next) => {
  if (WITH_BODY.has(c.req.method) && c.get('isForDataPlane') !== true) {
    const text = await readText(c.req.raw);
    const { method, url } = c.req.raw;
    const headers = new Headers(c.req.raw.headers);
    headers.delete('content-length');
    headers.set('content-type', 'application/json');
    c.req.raw = new Request(url, { method, headers, body: text === '' ? '{}' : withMoneyAsText(text) });
  }
  await next();
};

async function readText(request: Request): Promise<string> {
  const tooLarge = () => new GatewayError('request_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`);
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  if (request.body === null) return '';
  const reader = request.body.getReader();
  const startMs = performance.now();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const read = () => inTime(reader.read(), Math.max(0, startMs + readTimeMs(size) - performance.now()), tooSlow);
  try {
    for (let part = await read(); !part.done; part = await read()) {
      size += part.value.byteLength;
      if (size > MAX_BODY_BYTES) throw tooLarge();
      chunks.push(part.value);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooSlow(): never {
  throw new GatewayError('invalid_request', 'The body took too long to arrive. Send it again.', { status: 408 });
}

function withMoneyAsText(text: string): string {
  try {
    return JSON.stringify(parseMoneyAsText(text));
  } catch (cause) {
    throw new GatewayError('invalid_json', 'The body is not JSON.', { cause });
  }
}
