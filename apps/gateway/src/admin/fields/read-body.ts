import { boundedBody, declaredLength } from '@llm0/core/async/bounded-body';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { MiddlewareHandler } from 'hono';
import type { AdminEnv } from '../admin-services';
import { parseMoneyAsText } from './json-money';

const MAX_BODY_BYTES = 1024 * 1024;
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Reads the body once, with limits for size and time. Parses any content type as JSON and keeps money as text. Throws
 * `request_too_large` and `invalid_json`.
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

/** Throws `request_too_large`. */
export async function readText({ headers, body }: Request): Promise<string> {
  declaredLength(headers, MAX_BODY_BYTES);
  return body === null ? '' : new Response(boundedBody(body, { maxBytes: MAX_BODY_BYTES })).text();
}

function withMoneyAsText(text: string): string {
  try {
    return JSON.stringify(parseMoneyAsText(text));
  } catch (cause) {
    throw new GatewayError('invalid_json', 'The body is not JSON.', { cause });
  }
}
