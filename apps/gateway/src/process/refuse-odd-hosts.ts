import { GatewayError } from '@llm0/core/errors/gateway-error';

type Handle<S> = (request: Request, server: S) => Response | Promise<Response>;

/**
 * With an invalid `Host`, Bun only passes the path, and the router would drop its beginning. A proxy in front would
 * have seen another page.
 */
export function refuseOddHosts(
  refuse: (path: string, error: GatewayError) => Response,
): <S>(handle: Handle<S>) => Handle<S> {
  return (handle) => (request, server) => {
    const { url } = request;
    if (url.startsWith('http')) return handle(request, server);
    const message = 'The Host header is missing, or names no host.';
    return refuse(url, new GatewayError('invalid_request', message, { param: 'Host' }));
  };
}
