import { labelsOf, type Principal } from '@llm0/core/keys/api-key';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import { type DialectName, MODALITY_OF } from '@llm0/core/logs/log-record';
import type { HoldEstimate } from '@llm0/core/pricing/estimate-cost';
import type { Target } from '@llm0/core/routing/target';
import type { RequestContext } from './open-context';

/** Hold of a request until its settlement. Once sent, the input is certainly billed. */
export type PlannedHold = Pick<HoldEstimate, 'holdNanoUsd' | 'inputNanoUsd' | 'tokens'>;

/** Free of charge, however large the input. */
export const NO_HOLD: HoldEstimate = {
  ...{ holdNanoUsd: 0, inputNanoUsd: 0, tokens: 0, outputTokens: 0, answers: 1 },
  context: { promptTokens: 0 },
};

export interface PlannedAdmission {
  /** Name for per-model limits. */
  readonly model: string;
  /** Tried first. */
  readonly target: Target;
  readonly hold: PlannedHold;
  readonly cacheKey?: string | undefined;
  /** See `lostFacts`; absent unless prepared. */
  readonly facts?: string | undefined;
}

/** Hold in the store. If the process dies, the input is booked; under strict caps all of it. */
export function admitPlan(input: AdmittedInput, planned: PlannedAdmission): AdmitPlan {
  const { model, target, hold, cacheKey } = planned;
  const { holdNanoUsd, inputNanoUsd, tokens } = hold;
  const isAbsolute = input.principal.project.strictCaps;
  const lostNanoUsd = isAbsolute ? holdNanoUsd : inputNanoUsd;
  const facts = planned.facts ?? lostFacts(input.principal, input.request.model, target);
  const record = lostRecord(input, facts, lostNanoUsd);
  return { model, holdNanoUsd, lostNanoUsd, tokens, isAbsolute, cacheKey, lostRecord: record };
}

/** Owner of the request, and its row fields. */
export interface AdmittedInput {
  readonly ctx: RequestContext;
  readonly principal: Principal;
  readonly dialect: DialectName;
  readonly request: { readonly model: string; readonly stream: boolean };
}

/** The part of a lost request's row that all requests of the principal to this target share, as JSON members. */
export function lostFacts({ key, project }: Principal, requestedModel: string, { provider, model }: Target): string {
  return JSON.stringify({
    ...{ projectId: project.id, apiKeyId: key.id, model, requestedModel, provider },
    ...{ tokensIn: 0, tokensOut: 0, tokensCacheRead: 0, tokensCacheWrite: 0, tokensReasoning: 0, savedNanoUsd: 0 },
    ...{ costEstimated: true, latencyMs: 0, cacheHit: false, semanticCacheHit: false, failoverCount: 0 },
    ...{ status: 'error', httpStatus: 502, errorCode: 'gateway_lost' },
    errorMessage: 'The gateway process handling this request died; the input part of its hold was booked.',
  }).slice(1, -1);
}

/** Row for the reaper if this process dies; the store sets `createdAtMs`. */
function lostRecord({ ctx, principal, dialect, request }: AdmittedInput, facts: string, lostNanoUsd: number): string {
  const { clientRequestId, runId, trace, customerId } = ctx;
  const labels = labelsOf(principal, ctx.labels);
  const modality = MODALITY_OF[dialect] ?? ctx.modality;
  const own =
    `{"id":${JSON.stringify(ctx.requestId)},"dialect":"${dialect}","stream":${request.stream},` +
    `"costNanoUsd":${lostNanoUsd},${facts}${modality === undefined ? '' : `,"modality":"${modality}"`}`;
  if ((clientRequestId ?? runId ?? trace ?? customerId ?? labels) === undefined) return `${own}}`;
  const { traceId, mark } = trace ?? {};
  const more = JSON.stringify({ clientRequestId, runId, traceId, trace: mark, customerId, labels });
  return more === '{}' ? `${own}}` : `${own},${more.slice(1)}`;
}
