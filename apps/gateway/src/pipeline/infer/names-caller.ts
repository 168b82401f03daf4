import type { Backend } from '@llm0/core/backends/backend';
import { asRead, isUsualRequestHeader } from './forward-headers';

/** Headers of clients, browsers and proxies, and the gateway's own: they never reach a backend. */
const UNSEEN: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['http2-settings', 'authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'idempotency-key'],
  ...['x-request-id', 'x-customer-id', 'traceparent', 'tracestate', 'x-amzn-trace-id', 'x-cloud-trace-context'],
  ...['origin', 'referer', 'dnt', 'priority', 'save-data', 'upgrade-insecure-requests', 'x-requested-with'],
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto', 'x-real-ip'],
  ...['cdn-loop', 'cf-connecting-ip', 'cf-ipcountry', 'cf-ray', 'cf-visitor'],
]);
const UNSEEN_PREFIXES = ['sec-', 'accept-', 'x-llm0-', 'x-stainless-'] as const;

/** True if any other header may identify the caller to the backend or a proxy. */
export function namesCaller(headers: Headers, backend: Pick<Backend, 'headers' | 'forwardHeaders'>): boolean {
  for (const name of headers.keys()) {
    const isUnseen = UNSEEN.has(name) || UNSEEN_PREFIXES.some((start) => name.startsWith(start));
    if (isUsualRequestHeader(name) || (isUnseen && !backend.forwardHeaders.includes(name))) continue;
    if (!Object.keys(backend.headers).some((own) => asRead(own.toLowerCase()) === asRead(name))) return true;
  }
  return false;
}
