// Hot store unreachable: 503 store_unavailable, or, for projects with `on_store_failure: open`, served without limits or cache.

import { type CachedAnswer, decodeCachedAnswer, mayCache } from '@llm0/core/cache/cached-answer';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { labelsOf } from '@llm0/core/keys/api-key';
import { type Budget, withRun } from '@llm0/core/limits/budgets';
import type { AdmitDecision, AdmitPlan, AdmitRequest } from '@llm0/core/limits/hot-store';
import type { DialectName } from '@llm0/core/logs/log-record';
import { fitOutput } from '@llm0/core/pricing/fit-output';
import { mayAnswer } from '@llm0/core/routing/named-targets';
import type { RouteTarget } from '@llm0/core/routing/resolve-targets';
import type { Services } from '../../services/contract';
import { type Authenticated, refreshPrincipal, reloadPrincipal } from './authenticate';
import { denial } from './denials';
import type { RequestContext } from './open-context';
import { planRequest, type RequestPlan } from './plan-request';

export type AdmitNeeds = Pick<Services, 'hotStore' | 'keyCache' | 'clock' | 'routing' | 'connect'> &
  Pick<Services, 'downgradeModels' | 'storeClock' | 'metrics' | 'refreshTables' | 'runs' | 'openParts'>;

/** Of requests with guardrails. */
export interface Judge {
  /** Judges the request by a reloaded principal's guardrails; its body for the provider. */
  judgeAgain(principal: Authenticated): Promise<ChatRequest | undefined>;
}

export interface AdmitInput<R = ChatRequest> {
  readonly ctx: RequestContext;
  readonly principal: Authenticated;
  readonly dialect: DialectName;
  readonly request: R;
  /** Body for the provider, if guardrails changed it. */
  readonly toSend?: ChatRequest | undefined;
  readonly judge?: Judge | undefined;
  /** Tells when its caller leaves a queue; absent: it never waits in one. */
  readonly httpRequest?: Pick<Request, 'signal'> | undefined;
  /** Part of something that has a place of its own, such as a session. */
  readonly isPart?: true;
}

/** Plans one kind of request, so that all kinds pass the same decision. */
export interface Planner<R, P, S> {
  plan(services: Pick<Services, 'routing' | 'connect'>, input: AdmitInput<R>): P;
  /** The request for the customer's downgrade model; throws where another model is no answer. */
  withModel(request: R, model: string): R;
  /** The request with the largest output limit that costs no more; undefined if none does, absent where none is sent. */
  fit?(request: R, plan: P, leftNanoUsd: number): R | undefined;
  /**
   * undefined for anything this version did not write, the project wants served no more, or another target answered. A
   * large one takes some turns; all others are there.
   */
  decodeStored(value: string, plan: P, input: AdmitInput<R>): S | undefined | Promise<S | undefined>;
}

/**
 * Served without the store's decision or a hold; `nowMs` estimates the store's clock. `unchecked`: the store was away
 * and the project fails open. `replayed`: an earlier answer, free. `spent`: a vendor has answered, and bills it.
 */
export interface UndecidedAdmission {
  readonly type: 'unchecked' | 'replayed' | 'spent';
  readonly nowMs: number;
}

/** A decision to serve, with the plan it was made for. */
export interface Admission<P = RequestPlan, S = CachedAnswer> {
  readonly principal: Authenticated;
  readonly plan: P;
  readonly decision: Extract<AdmitDecision, { type: 'admitted' | 'cached' }> | UndecidedAdmission;
  readonly downgraded: boolean;
  /** The model the caller asked for, also when another one answers. */
  readonly requestedModel: string;
  /** Body for the provider, if guardrails changed it. */
  readonly toSend?: ChatRequest;
  /** Milliseconds that it waited for limits, if its project wants that. */
  readonly queuedMs?: number;
  /** The answer of an exact hit or of a replay. */
  readonly stored?: S;
}

const MAX_ROUNDS = 6;

/** Common part of all plans. */
export interface Planned {
  readonly admit: AdmitPlan;
  /** Absent where the request names its provider by itself. */
  readonly route?: { readonly targets: readonly RouteTarget[] };
  readonly cacheKey?: string;
}

/** One atomic decision; asked again only when key, project or downgrade model changed under us. */
export async function admitPlanned<R extends { readonly model: string }, P extends Planned, S>(
  services: AdmitNeeds,
  input: AdmitInput<R>,
  planner: Planner<R, P, S>,
  run?: Budget,
): Promise<Admission<P, S>> {
  if (input.ctx.isSpent === true) return admitSpent(services, input, planner);
  const { model: requestedModel } = input.request;
  const { customerId } = input.ctx;
  let known = input;
  let reloaded = false;
  let skipCache = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let requested: P;
    try {
      requested = planner.plan(services, known);
    } catch (refusal) {
      known = await refreshed(services, known, refusal);
      requested = planner.plan(services, known);
    }
    const { principal } = known;
    const downgrade = customerId === undefined ? undefined : planDowngrade(services, known, { requested, planner });
    const asked = admitRequest(known, requested, { downgrade: downgrade?.plan, reloaded, skipCache, run, services });
    let decision: AdmitDecision;
    const askedMs = services.clock.monotonicMs();
    try {
      decision = await services.hotStore.admit(asked);
    } catch (error) {
      return admitUnchecked(services, { principal, plan: requested, model: requestedModel, error });
    }
    services.metrics.admitMs.observe(services.clock.monotonicMs() - askedMs);
    services.storeClock.observe(decision.nowMs);
    switch (decision.type) {
      case 'stale':
        if (decision.what === 'tables') await services.refreshTables();
        else known = await withPrincipal(known, await reloadPrincipal(services, principal.keyHash));
        reloaded ||= decision.what === 'principal';
        break;
      case 'replan':
        if (downgrade?.error !== undefined && downgrade.model === decision.downgradeModel) throw downgrade.error;
        services.downgradeModels.set(principal.project.id, customerId ?? '', decision.downgradeModel);
        break;
      case 'denied':
        throw denial(decision);
      default: {
        const plan = decision.plan === 'downgrade' ? (downgrade?.plan ?? requested) : requested;
        const admission = { principal, plan, decision, downgraded: plan !== requested, requestedModel };
        if (decision.type === 'admitted') return admission;
        const decoded = planner.decodeStored(decision.value, plan, known);
        const stored = decoded instanceof Promise ? await decoded : decoded;
        if (stored !== undefined) return { ...admission, stored };
        // An unusable hit: asks for a real admission, because a hit holds nothing.
        forgetEntry(services, principal.project.id, plan);
        skipCache = true;
      }
    }
  }
  const message = 'The limits of this key are changing right now. Retry shortly.';
  throw new GatewayError('overloaded', message, { retryAfterMs: 1000 });
}

/** The request after a refusal to plan it: local data may be outdated. Throws the refusal if nothing changed. */
async function refreshed<R>(services: AdmitNeeds, input: AdmitInput<R>, refusal: unknown): Promise<AdmitInput<R>> {
  if (!(refusal instanceof GatewayError)) throw refusal;
  return withPrincipal(input, await refreshPrincipal(services, input.principal, refusal));
}

/** Plans again for a reloaded key and project, by the current guardrails. */
async function withPrincipal<R>(input: AdmitInput<R>, principal: Authenticated): Promise<AdmitInput<R>> {
  if (principal.guardrails === input.principal.guardrails) return { ...input, principal };
  return { ...input, principal, toSend: await input.judge?.judgeAgain(principal) };
}

/** No limit undoes what a vendor bills: the settlement books it without a hold. */
function admitSpent<R extends { readonly model: string }, P extends Planned, S>(
  services: AdmitNeeds,
  input: AdmitInput<R>,
  planner: Planner<R, P, S>,
): Admission<P, S> {
  const { principal, request } = input;
  const decision = { type: 'spent', nowMs: services.storeClock.nowMs() } as const;
  return { principal, plan: planner.plan(services, input), decision, downgraded: false, requestedModel: request.model };
}

/** The store can't decide: open projects are served all the same, their cost is settled when the store is back. */
function admitUnchecked<P extends Planned, S>(
  services: AdmitNeeds,
  refused: { readonly principal: Authenticated; readonly plan: P; readonly model: string; readonly error: unknown },
): Admission<P, S> {
  const { principal, plan, model, error } = refused;
  const { onStoreFailure, strictCaps } = principal.project;
  if (!(error instanceof GatewayError) || error.kind !== 'store_unavailable') throw error;
  if (onStoreFailure !== 'open' || strictCaps) throw error;
  services.metrics.unchecked.inc();
  return {
    principal,
    plan: { ...plan, cacheKey: undefined, admit: { ...plan.admit, cacheKey: undefined } },
    decision: { type: 'unchecked', nowMs: services.storeClock.nowMs() },
    downgraded: false,
    requestedModel: model,
  };
}

interface DowngradePlan<P> {
  readonly model: string;
  readonly plan?: P;
  /** Reason why the downgrade model can't serve; thrown only if needed. */
  readonly error?: GatewayError;
}

/** The second plan, when this customer is known to have a downgrade model. */
function planDowngrade<R extends { readonly model: string }, P, S>(
  services: AdmitNeeds,
  input: AdmitInput<R>,
  { requested, planner }: { readonly requested: P; readonly planner: Planner<R, P, S> },
): DowngradePlan<P> | undefined {
  const { customerId } = input.ctx;
  if (customerId === undefined) return undefined;
  const model = services.downgradeModels.get(input.principal.project.id, customerId);
  if (model === null) return undefined;
  if (model === input.request.model) return { model, plan: requested };
  try {
    return { model, plan: planner.plan(services, { ...input, request: planner.withModel(input.request, model) }) };
  } catch (error) {
    if (error instanceof GatewayError) return { model, error };
    throw error;
  }
}

/** Removes a broken entry, so that nobody reads it again. */
function forgetEntry(
  { hotStore }: Pick<AdmitNeeds, 'hotStore'>,
  projectId: string,
  { admit: { cacheKey } }: Planned,
): void {
  if (cacheKey === undefined) return;
  hotStore.cacheWrite(projectId, { key: cacheKey, value: '', ttlMs: 1, provider: '', model: '' });
}

export function replaceModel(request: ChatRequest, model: string): ChatRequest {
  const wire = request.wire && { ...request.wire, body: { ...request.wire.body, model } };
  return { ...request, model, wire };
}

export const CHAT: Planner<ChatRequest, RequestPlan, CachedAnswer> = {
  plan: planRequest,
  withModel: replaceModel,
  fit: (request, { hold }, leftNanoUsd) => fitOutput(request, hold, leftNanoUsd),
  decodeStored: (value, { route }, { principal: { project }, ctx }) => {
    const allowed = (stored: CachedAnswer | undefined) =>
      stored !== undefined && mayCache(stored.response, project) && mayAnswer(route, stored) ? stored : undefined;
    const decoded = decodeCachedAnswer(value, ctx.held);
    return decoded instanceof Promise ? decoded.then(allowed) : allowed(decoded);
  },
};

const withoutCache = ({ admit }: Planned): AdmitPlan => ({ ...admit, cacheKey: undefined });

function admitRequest(
  input: AdmitInput<unknown>,
  requested: Planned,
  options: {
    downgrade: Planned | undefined;
    reloaded: boolean;
    skipCache: boolean;
    run: Budget | undefined;
    services: Pick<Services, 'openParts'>;
  },
): AdmitRequest {
  const { skipCache, downgrade } = options;
  const { key, project, budgets, levelLimits } = input.principal;
  const asked = budgets?.of(labelsOf(input.principal, input.ctx.labels));
  return {
    requestId: input.ctx.requestId,
    projectId: project.id,
    keyId: key.id,
    keyVersion: key.version,
    projectVersion: project.version,
    reloaded: options.reloaded,
    keyBucket:
      key.rateLimitPerMinute === null
        ? undefined
        : { ratePerMinute: key.rateLimitPerMinute, burst: key.rateLimitBurst ?? key.rateLimitPerMinute },
    customerId: input.ctx.customerId,
    maxCustomers: project.maxCustomers,
    requested: skipCache ? withoutCache(requested) : requested.admit,
    downgrade: skipCache ? downgrade && withoutCache(downgrade) : downgrade?.admit,
    projectCapNanoUsd: project.monthlyCapNanoUsd,
    keyBudgetNanoUsd: key.budgetNanoUsd,
    keyBudgetPeriod: key.budgetPeriod,
    budgets: options.run === undefined ? asked : withRun(asked, options.run),
    levelLimits,
    tokensPerMinute: key.tokensPerMinute,
    maxConcurrency:
      input.isPart === true || key.maxConcurrency === null
        ? null
        : key.maxConcurrency + options.services.openParts.of(key.id),
  };
}
