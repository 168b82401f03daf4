import type { UpstreamRequest } from '../provider-request';

/** Adds trace headers to a request, outside of its signature. */
export function withTrace(
  request: UpstreamRequest,
  trace: Readonly<Record<string, string>> | undefined,
): UpstreamRequest {
  return trace === undefined ? request : { ...request, headers: { ...request.headers, ...trace } };
}
