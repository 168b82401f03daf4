import { type HeaderTable, responseHeaders } from '../request/response-headers';
import type { RespondInput } from './finish-completion';

const STREAM_HEADERS: HeaderTable = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Headers of a body or stream in the caller's format, all but cost and tokens. */
export function bodyHeaders({ dialect, ctx, admission, answer }: RespondInput, overheadMs: number): HeaderTable {
  const headers = responseHeaders(ctx, admission, answer, overheadMs);
  if (admission.plan.request.stream) Object.assign(headers, STREAM_HEADERS);
  else headers['Content-Type'] = 'application/json';
  if (dialect.requestIdHeader !== undefined) headers[dialect.requestIdHeader] = ctx.requestId;
  return headers;
}
