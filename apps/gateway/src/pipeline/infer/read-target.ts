import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { checkPath } from '@llm0/providers/transport/call-backend';
import { refuseWebSocket } from '../request/refuse-websocket';

/** A request to a backend. */
export interface InferTarget {
  readonly backend: string;
  readonly method: string;
  /** Begins with a slash. */
  readonly path: string;
  /** With its question mark; '' = none. */
  readonly search: string;
}

const PREFIX = '/infer/';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * `/infer/{backend}/…`. Bun has already resolved plain dots and backslashes; the path check refuses ambiguous remains.
 * Throws `not_found`, `method_not_allowed` or `invalid_request`.
 */
export function readTarget(request: Pick<Request, 'method' | 'url' | 'headers' | 'body'>): InferTarget {
  const { method, url } = request;
  if (!METHODS.has(method)) throw new GatewayError('method_not_allowed', `${method} isn't forwarded.`);
  refuseWebSocket(request.headers);
  if (BODILESS.has(method) && hasBody(request)) {
    throw invalidRequest('body', `A ${method} request to a backend has no body. Send it by POST.`);
  }
  const rest = url.slice(url.indexOf('/', url.indexOf('//') + 2));
  if (!rest.startsWith(PREFIX)) throw noBackend();
  if (rest.includes('#')) throw invalidRequest('', 'An address has no fragment.');
  const question = rest.indexOf('?');
  const whole = question === -1 ? rest : rest.slice(0, question);
  const slash = whole.indexOf('/', PREFIX.length);
  const backend = whole.slice(PREFIX.length, slash === -1 ? undefined : slash);
  if (backend === '') throw noBackend();
  const search = question === -1 ? '' : rest.slice(question);
  const path = slash === -1 ? '/' : whole.slice(slash);
  checkPath(path);
  return { backend, method, path, search };
}

/** A cache wouldn't distinguish answers by a body. */
const hasBody = ({ body, headers }: Pick<Request, 'body' | 'headers'>): boolean =>
  body !== null || headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0;

function noBackend(): GatewayError {
  return new GatewayError('not_found', 'Name a backend: /infer/{backend}/….');
}
