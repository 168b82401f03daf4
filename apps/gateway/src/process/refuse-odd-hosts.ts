import { GatewayError } from '@llm0/core/errors/gateway-error';

type Handle = (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>;

/**
 * Where `Host` can be no host, Bun gives the path alone as the request's address, of which the router would leave out the
 * beginning: another page than the one that a proxy in front saw.
 */
export function refuseOddHosts(refuse: (path: string, error: GatewayError) => Response): (handle: Handle) => Handle {
  return (handle) => (request, server) => {
    const { url } = request;
    if (url.startsWith('http')) return handle(request, server);
    const message = 'The Host header is missing, or names no host.';
    return refuse(url, new GatewayError('invalid_request', message, { param: 'Host' }));
  };
}
