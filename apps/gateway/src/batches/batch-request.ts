import type { ErrorEnvelope } from '../dialects/dialect';
import { answerOwn } from '../files/answer-own';
import type { Authenticated } from '../pipeline/request/load-principal';
import { openContext, type RequestContext } from '../pipeline/request/open-context';
import type { Services, UnderWay } from '../services/contract';
import type { LineEndpoints } from './line-endpoint';

/** A request of a batch or of all; `id` is its caller's. */
export interface BatchRequest {
  readonly request: Request;
  readonly dialect: ErrorEnvelope;
  readonly id: string;
  readonly endpoints: LineEndpoints;
}

/** The request with its key. */
export interface AskedBatch extends BatchRequest {
  readonly principal: Authenticated;
  readonly ctx: RequestContext;
  readonly underWay: UnderWay;
}

/** Answers one method of one path. */
export type BatchWorkOf = (services: Services, asked: AskedBatch) => Promise<Response>;
export type BatchRoutes = Readonly<Record<string, Readonly<Record<string, BatchWorkOf>>>>;

/** A request about batches of the key's project. */
export function handleBatches(services: Services, asked: BatchRequest, work: BatchWorkOf): Promise<Response> {
  const { request, dialect } = asked;
  return answerOwn(services, asked, async ({ principal, underWay, requestId }) => {
    const ctx = openContext(services, request, { held: underWay.held, chosen: { requestId } });
    const response = await work(services, { ...asked, principal, ctx, underWay });
    if (dialect.requestIdHeader !== undefined) response.headers.set(dialect.requestIdHeader, requestId ?? '');
    return response;
  });
}
