// In this process only: several workers or gateways each allow their limits.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { clientAddress, networkOf } from '@llm0/core/limits/client-network';
import { FloodLimits, type FloodRefusal } from '@llm0/core/limits/flood-limits';
import { getPath } from 'hono/utils/url';
import type { Services } from '../services/contract';
import { isDataPlane } from './allow-origins';

/** `server`: Bun's own, which knows the socket's address. */
type Handle<S> = (request: Request, server: S) => Response | Promise<Response>;
interface AddressBook {
  requestIP(request: Request): { readonly address: string } | null;
}
type Needs = Pick<Services, 'config' | 'clock' | 'metrics' | 'openRequests'>;

/** Operators' requests as a key weigh the same as data plane requests. */
const SENT_AS_KEY = /^\/admin\/v1\/projects\/[^/]+\/keys\/[^/]+\/chat\/completions$/;

const BUSY_RETRY_MS = 1000;

/**
 * Refuses floods of the process or one client before credentials and body, without a row. `refuse` encodes the answer
 * for the path.
 */
export function limitFloods(
  services: Needs,
  refuse: (path: string, error: GatewayError) => Response,
): <S extends AddressBook>(handle: Handle<S>) => Handle<S> {
  const { config, clock, metrics, openRequests } = services;
  const { globalRate, clientRate, trustProxyHops, maxConcurrentRequests } = config;
  if (globalRate === undefined && clientRate === undefined && maxConcurrentRequests === undefined) {
    return (handle) => handle;
  }
  const limits = new FloodLimits({ global: globalRate, client: clientRate });
  const most = maxConcurrentRequests ?? Number.POSITIVE_INFINITY;
  const isRated = globalRate !== undefined || clientRate !== undefined;
  return (handle) => (request, server) => {
    const pathname = getPath(request);
    if (!isDataPlane(request) && !SENT_AS_KEY.test(pathname)) return handle(request, server);
    if (isRated) {
      const socket = server.requestIP(request)?.address ?? 'unknown';
      const client = clientAddress(socket, request.headers.get('x-forwarded-for'), trustProxyHops);
      const refusal = limits.take(networkOf(client), clock.monotonicMs());
      if (refusal !== undefined) {
        metrics.floodRefusals.inc({ limit: refusal.limit });
        return withRateHeaders(refuse(pathname, tooMany(refusal)), refusal);
      }
    }
    if (openRequests.count < most) return handle(request, server);
    metrics.floodRefusals.inc({ limit: 'concurrency' });
    const message = `This gateway serves at most ${most} requests at once. Please retry.`;
    return refuse(pathname, new GatewayError('overloaded', message, { retryAfterMs: BUSY_RETRY_MS }));
  };
}

const WHO = { global: 'This gateway takes', client: 'A client may send' } as const;

function tooMany({ limit, rate, retryAfterMs }: FloodRefusal): GatewayError {
  const message = `${WHO[limit]} ${rate.perSecond} requests a second (${rate.burst} at once). Wait and retry.`;
  return new GatewayError('rate_limit_exceeded', message, { param: limit, retryAfterMs });
}

/** Ours, and those of https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ */
function withRateHeaders(response: Response, { limit, rate, resetMs }: FloodRefusal): Response {
  const resetSeconds = Math.ceil(resetMs / 1000);
  const windowSeconds = Math.max(1, Math.ceil(rate.burst / rate.perSecond));
  const headers = {
    'X-RateLimit-Limit': String(rate.burst),
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(resetSeconds),
    'RateLimit-Policy': `"${limit}";q=${rate.burst};w=${windowSeconds}`,
    RateLimit: `"${limit}";r=0;t=${resetSeconds}`,
  };
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
