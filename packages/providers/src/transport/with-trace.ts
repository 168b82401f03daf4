import type { UpstreamRequest } from '../provider-request';

/** The request with the headers that name its trace: beside those that were signed, which they are none of. */
export function withTrace(
  request: UpstreamRequest,
  trace: Readonly<Record<string, string>> | undefined,
): UpstreamRequest {
  return trace === undefined ? request : { ...request, headers: { ...request.headers, ...trace } };
}
