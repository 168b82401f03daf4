import { answerOwn, type OwnAsked } from '../files/answer-own';
import type { Authenticated } from '../pipeline/request/authenticate';
import type { RequestContext } from '../pipeline/request/open-context';
import type { Services, UnderWay } from '../services/contract';
import type { LineEndpoints } from './line-endpoint';

/** A request of a batch or of all; `id` is its caller's. */
export interface BatchRequest extends Omit<OwnAsked, 'isCounted'> {
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
  const own = { ...asked, isCounted: false };
  return answerOwn(services, own, ({ principal, underWay, ctx }) =>
    work(services, { ...asked, principal, ctx, underWay }),
  );
}
