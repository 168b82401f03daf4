import { labelsOf, type Principal } from '@llm0/core/keys/api-key';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import type { DialectName } from '@llm0/core/logs/log-record';
import type { HoldEstimate } from '@llm0/core/pricing/estimate-cost';
import type { Target } from '@llm0/core/routing/target';
import type { RequestContext } from './open-context';

/** Hold of a request until its settlement. Once sent, the input is certainly billed. */
export type PlannedHold = Pick<HoldEstimate, 'holdNanoUsd' | 'inputNanoUsd' | 'tokens'>;

/** Free of charge, however large the input. */
export const NO_HOLD: HoldEstimate = {
  ...{ holdNanoUsd: 0, inputNanoUsd: 0, tokens: 0, outputTokens: 0 },
  context: { promptTokens: 0 },
};

export interface PlannedAdmission {
  /** Name for per-model limits. */
  readonly model: string;
  /** Tried first. */
  readonly target: Target;
  readonly hold: PlannedHold;
  readonly cacheKey?: string;
}

/** Hold in the store. If the process dies, the input is booked; under strict caps all of it. */
export function admitPlan(input: AdmittedInput, { model, target, hold, cacheKey }: PlannedAdmission): AdmitPlan {
  const { holdNanoUsd, inputNanoUsd, tokens } = hold;
  const isAbsolute = input.principal.project.strictCaps;
  const lostNanoUsd = isAbsolute ? holdNanoUsd : inputNanoUsd;
  const record = lostRecord(input, target, lostNanoUsd);
  return { model, holdNanoUsd, lostNanoUsd, tokens, isAbsolute, cacheKey, lostRecord: record };
}

/** The part of a lost request's row that is the same for all, written as JSON once. */
const LOST_CONSTANTS = JSON.stringify({
  tokensIn: 0,
  tokensOut: 0,
  tokensCacheRead: 0,
  tokensCacheWrite: 0,
  tokensReasoning: 0,
  savedNanoUsd: 0,
  costEstimated: true,
  latencyMs: 0,
  cacheHit: false,
  semanticCacheHit: false,
  failoverCount: 0,
  status: 'error',
  httpStatus: 502,
  errorCode: 'gateway_lost',
  errorMessage: 'The gateway process handling this request died; the input part of its hold was booked.',
}).slice(1);

/** Owner of the request, and its row fields. */
export interface AdmittedInput {
  readonly ctx: RequestContext;
  readonly principal: Principal;
  readonly dialect: DialectName;
  readonly request: { readonly model: string; readonly stream: boolean };
}

/** Row for the reaper if this process dies; the store sets `createdAtMs`. */
function lostRecord(input: AdmittedInput, { provider, model }: Target, lostNanoUsd: number): string {
  const { ctx, principal, request } = input;
  const own = JSON.stringify({
    id: ctx.requestId,
    projectId: principal.project.id,
    apiKeyId: principal.key.id,
    clientRequestId: ctx.clientRequestId,
    runId: ctx.runId,
    traceId: ctx.trace?.traceId,
    trace: ctx.trace?.mark,
    dialect: input.dialect,
    model,
    requestedModel: request.model,
    provider,
    costNanoUsd: lostNanoUsd,
    stream: request.stream,
    customerId: ctx.customerId,
    labels: labelsOf(principal, ctx.labels),
  });
  return `${own.slice(0, -1)},${LOST_CONSTANTS}`;
}
