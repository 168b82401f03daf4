import { GatewayError } from '@llm0/core/errors/gateway-error';

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses pages of foreign sites, against DNS rebinding. Allows CORS_ORIGINS and this machine. Programs send no
 * `Origin`.
 */
export function checkOrigin(headers: Headers, allowed: readonly string[]): void {
  const origin = headers.get('origin');
  if (origin === null || allowed.includes('*') || allowed.includes(origin)) return;
  const url = URL.parse(origin);
  if (url !== null && LOOPBACK.has(url.hostname)) return;
  const message = `Pages of "${origin.slice(0, 120)}" may not call this. The operator can list them in CORS_ORIGINS.`;
  throw new GatewayError('permission_denied', message, { param: 'Origin' });
}
