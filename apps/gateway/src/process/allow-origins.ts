import { getPath } from 'hono/utils/url';

type Handle<S> = (request: Request, server: S) => Response | Promise<Response>;

/** Paths open to other origins; dashboard, admin API, probes and metrics are not. */
const DATA_PLANE = /^\/(?:v1|v1beta|passthrough|infer|mcp)(?:\/|$)/;

/** Path after decoding, like the router: `/%761/…` is `/v1/…`. */
export const isDataPlane = (request: Request): boolean => DATA_PLANE.test(getPath(request));
const PREFLIGHT_SECONDS = 7200;

/**
 * Lets pages of these origins (`*`: of any) call the data plane: preflights are answered here, and answers show the page
 * all their headers. No cookies: a page brings its key. Source: https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function allowOrigins(origins: readonly string[]): <S>(handle: Handle<S>) => Handle<S> {
  if (origins.length === 0) return (handle) => handle;
  const isForAll = origins.includes('*');
  return (handle) => async (request, server) => {
    const origin = request.headers.get('origin');
    if (!isDataPlane(request)) return handle(request, server);
    const isAllowed = origin !== null && (isForAll || origins.includes(origin));
    const isPreflight = request.method === 'OPTIONS' && request.headers.has('access-control-request-method');
    const response = isAllowed && isPreflight ? answerPreflight(request.headers) : await handle(request, server);
    // Caches must not reuse the headers of one origin for another.
    if (!isForAll) response.headers.append('Vary', 'Origin');
    if (!isAllowed) return response;
    response.headers.set('Access-Control-Allow-Origin', isForAll ? '*' : origin);
    if (!isPreflight) response.headers.set('Access-Control-Expose-Headers', [...response.headers.keys()].join(', '));
    return response;
  };
}

function answerPreflight(asked: Headers): Response {
  const headers = new Headers({
    'Access-Control-Allow-Methods': asked.get('access-control-request-method') ?? 'POST',
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
  });
  const wanted = asked.get('access-control-request-headers');
  if (wanted !== null) headers.set('Access-Control-Allow-Headers', wanted);
  // A public page that calls a gateway in the local network.
  if (asked.get('access-control-request-private-network') === 'true') {
    headers.set('Access-Control-Allow-Private-Network', 'true');
  }
  return new Response(null, { status: 204, headers });
}
