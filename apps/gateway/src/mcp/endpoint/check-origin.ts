import { GatewayError } from '@llm0/core/errors/gateway-error';

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Pages of other sites are refused, so that no name that was made to lead here lets them in. Allowed: those of
 * CORS_ORIGINS, and those of this machine. Who is no browser sends no `Origin`.
 */
export function checkOrigin(headers: Headers, allowed: readonly string[]): void {
  const origin = headers.get('origin');
  if (origin === null || allowed.includes('*') || allowed.includes(origin)) return;
  const url = URL.parse(origin);
  if (url !== null && LOOPBACK.has(url.hostname)) return;
  const message = `Pages of "${origin.slice(0, 120)}" may not call this. The operator can list them in CORS_ORIGINS.`;
  throw new GatewayError('permission_denied', message, { param: 'Origin' });
}
