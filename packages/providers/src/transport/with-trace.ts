import type { EndpointRequest } from '../provider-request';

/** Adds trace headers to a request, outside of its signature. */
export function withTrace<T extends EndpointRequest>(
  request: T,
  trace: Readonly<Record<string, string>> | undefined,
): T {
  return trace === undefined ? request : { ...request, headers: { ...request.headers, ...trace } };
}
