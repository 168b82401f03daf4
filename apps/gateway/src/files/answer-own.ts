// A file costs nothing, but counts against the rates of its key. A batch counts with its lines; a refused one by itself.
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import type { DialectName } from '@llm0/core/logs/log-record';
import type { ErrorEnvelope } from '../dialects/dialect';
import { handleRefusal, type Progress } from '../pipeline/handle-refusal';
import { Booking, type BookingInput, type Ending } from '../pipeline/metering/booking';
import { admitPlanned, type Planner } from '../pipeline/request/admit';
import {
  type Authenticated,
  authenticate,
  refreshStaleTables,
  reloadPrincipal,
} from '../pipeline/request/authenticate';
import { openContext, type RequestContext } from '../pipeline/request/open-context';
import { admitPlan, NO_HOLD } from '../pipeline/request/prepared-route';
import type { Services, UnderWay } from '../services/contract';

/** A request with its key, while it counts as open. */
export interface OwnRequest {
  readonly principal: Authenticated;
  readonly underWay: UnderWay;
  readonly ctx: RequestContext;
}

/** A request about files or batches of the key's project. */
export interface OwnAsked {
  readonly request: Request;
  readonly dialect: ErrorEnvelope;
  /** Its row's. */
  readonly name: Extract<DialectName, 'openai-files' | 'openai-batches' | 'anthropic-batches'>;
  /** Admitted by itself, with a row of its own. */
  readonly isCounted: boolean;
}

/** Answers it. Loads the key each time: not every one of these asks the hot store, which would notice a revocation. */
export async function answerOwn(
  services: Services,
  { request, dialect: envelope, name: dialect, isCounted }: OwnAsked,
  work: (own: OwnRequest) => Promise<Response>,
): Promise<Response> {
  const progress: Progress = {};
  const underWay = services.openRequests.enter();
  try {
    const ctx = openContext(services, request, underWay);
    progress.ctx = ctx;
    const { keyHash } = await authenticate(services, request);
    const principal = await reloadPrincipal(services, keyHash);
    progress.principal = principal;
    ctx.held.key = principal.key.id;
    await refreshStaleTables(services, principal);
    const meter = isCounted ? await admitOwn(services, { ctx, principal, dialect }) : undefined;
    progress.meter = meter;
    const response = await work({ principal, underWay, ctx });
    response.headers.set('X-Request-Id', ctx.requestId);
    if (envelope.requestIdHeader !== undefined) response.headers.set(envelope.requestIdHeader, ctx.requestId);
    meter?.complete();
    await meter?.handedOver;
    return response;
  } catch (cause) {
    return await handleRefusal(services, { dialect, envelope, progress, cause });
  } finally {
    underWay.end();
  }
}

interface FilePlan {
  readonly admit: AdmitPlan;
}

const PLANNER: Planner<{ readonly model: string }, FilePlan, never> = {
  plan: (_services, input) => {
    const request = { model: '', stream: false };
    return { admit: admitPlan({ ...input, request }, { model: '', target: NO_TARGET, hold: NO_HOLD }) };
  },
  withModel: (request) => request,
  decodeStored: () => undefined,
};

const NO_TARGET = { provider: '', model: '' } as const;

/** Under the rates of the key alone: who has used up a budget still gets the results that it paid. */
async function admitOwn(
  services: Services,
  { ctx, principal, dialect }: Pick<BookingInput, 'ctx' | 'dialect'> & { readonly principal: Authenticated },
): Promise<FileMeter> {
  const { key, project } = principal;
  const free: Authenticated = {
    ...principal,
    ...{ budgets: undefined, key: { ...key, budgetNanoUsd: null }, project: { ...project, monthlyCapNanoUsd: null } },
  };
  const input = { ctx: { ...ctx, customerId: undefined }, principal: free, dialect, request: { model: '' } };
  return new FileMeter(services, { ctx, dialect, admission: await admitPlanned(services, input, PLANNER) });
}

/** Writes the row of a request about files. */
class FileMeter extends Booking<BookingInput<FilePlan, never>> {
  complete(): void {
    this.end({ status: 'success', httpStatus: 200 });
  }

  protected end(ending: Ending): void {
    const latencyMs = this.elapsedMs();
    this.settle({
      ...{ requestedModel: '', model: '', stream: false, usage: ZERO_USAGE, costNanoUsd: 0, savedNanoUsd: 0 },
      ...{ latencyMs, overheadMs: latencyMs, cache: 'miss', attempts: [], failoverCount: 0 },
      ...ending,
    });
  }
}
