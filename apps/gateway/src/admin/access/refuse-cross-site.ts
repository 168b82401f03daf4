import { GatewayError } from '@llm0/core/errors/gateway-error';

const READS = new Set(['GET', 'HEAD']);

/**
 * Refuses cross-site requests that SameSite=Strict allows, such as other ports of the host. Browsers state the origin:
 * `Sec-Fetch-Site` on secure pages, else `Origin` on every change.
 */
export function refuseCrossSite(request: Request): void {
  const site = request.headers.get('sec-fetch-site');
  const isRead = READS.has(request.method);
  if (site === 'same-origin' || (site === 'none' && isRead)) return;
  if (site === null && (isRead || isOwnOrigin(request))) return;
  throw new GatewayError('permission_denied', 'Requests from other sites are not accepted with a session.');
}

function isOwnOrigin(request: Request): boolean {
  const origin = request.headers.get('origin');
  const host = request.headers.get('host') ?? new URL(request.url).host;
  return origin !== null && URL.canParse(origin) && new URL(origin).host === host;
}
