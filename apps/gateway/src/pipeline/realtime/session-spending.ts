// The hot store is away: a part that needs a decision is refused (`on_store_failure: open` projects go on unchecked).
import type { Usage } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { DialectName } from '@llm0/core/logs/log-record';
import { computeCost, UNPRICED } from '@llm0/core/pricing/compute-cost';
import type { PriceBook, PricedModel } from '@llm0/core/pricing/price-book';
import type { Target } from '@llm0/core/routing/target';
import { traceOfRequest } from '@llm0/core/tracing/trace-context';
import type { RealtimeProtocol } from '@llm0/providers/transport/call-realtime';
import type { ErrorEnvelope } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { handleRefusal } from '../handle-refusal';
import { admitInRun } from '../request/admit-run';
import type { Authenticated } from '../request/authenticate';
import type { RequestContext } from '../request/open-context';
import { asGatewayError } from '../request/respond-error';
import { REALTIME, type SessionPart } from './plan-realtime';
import { SessionMeter } from './session-meter';

/** What all parts of a session have in common. */
export interface SessionFacts {
  readonly ctx: RequestContext;
  readonly dialect: DialectName;
  readonly envelope: ErrorEnvelope;
  readonly protocol: RealtimeProtocol;
  readonly isTranscription: boolean;
  /** As the caller names it. */
  readonly model: string;
  readonly target: Target;
}

export interface PartWanted extends Omit<SessionPart, 'target'> {
  readonly target?: Target;
  readonly estimate: () => Usage | undefined;
}

/** Decides about each part of a session, and gives it a row of its own. */
export class SessionSpending {
  /** As of the last decision or look. */
  principal: Authenticated;

  constructor(
    private readonly services: Services,
    readonly session: SessionFacts,
    principal: Authenticated,
  ) {
    this.principal = principal;
  }

  /** Holds the most that a part costs. Throws the refusal, which has its row. */
  async hold(wanted: PartWanted): Promise<SessionMeter> {
    const { services, session } = this;
    const { part, ctx } = this.partOf(wanted);
    const { dialect, envelope, model, protocol, isTranscription } = session;
    const input = {
      ...{ ctx, principal: this.principal, dialect },
      request: { model, protocol, isTranscription, part },
      isPart: true,
    } as const;
    try {
      const admission = await admitInRun(services, input, REALTIME);
      this.principal = admission.principal;
      const { id: keyId } = admission.principal.key;
      services.openParts.add(keyId);
      const onSettled = () => services.openParts.remove(keyId);
      const { estimate } = wanted;
      return new SessionMeter(services, { ctx, dialect, admission, target: part.target, estimate, onSettled });
    } catch (cause) {
      const progress = { ctx, principal: this.principal, requestedModel: model, stream: true };
      const error = asGatewayError(cause, services.log, ctx);
      await handleRefusal(services, { dialect, envelope, progress, cause: error });
      throw error;
    }
  }

  /** For a part that the vendor bills although nothing is held for it. */
  without(wanted: PartWanted): SessionMeter {
    const { services, session, principal } = this;
    const { part, ctx } = this.partOf(wanted);
    const { dialect, model, protocol, isTranscription } = session;
    const request = { model, protocol, isTranscription, part };
    const priced = this.priceOf(part.target);
    const admit = { model, holdNanoUsd: 0, lostNanoUsd: 0, tokens: 0, lostRecord: '' };
    const plan = { admit, priced, bound: wanted.estimate() ?? part.bound(priced ?? NO_PRICES) };
    const decision = { type: 'unchecked', nowMs: services.storeClock.nowMs() } as const;
    const admission = { principal, plan, decision, downgraded: false, requestedModel: request.model };
    return new SessionMeter(services, { ctx, dialect, admission, target: part.target, estimate: wanted.estimate });
  }

  priceOf({ provider, model }: Target): PricedModel | undefined {
    return this.prices.find(provider, model);
  }

  /** Model of the provider whose price of a usage is the highest; undefined without a price. */
  dearestModel(mode: string, usageOf: (priced: PricedModel) => Usage): string | undefined {
    const { provider } = this.session.target;
    const costs = this.prices.list().flatMap((priced) => {
      if (priced.provider !== provider || priced.mode !== mode) return [];
      const { costNanoUsd, detail } = computeCost(usageOf(priced), priced);
      return detail.price_source === UNPRICED ? [] : [{ model: priced.model, costNanoUsd }];
    });
    return costs.toSorted((a, b) => b.costNanoUsd - a.costNanoUsd)[0]?.model;
  }

  /** Throws where a model may not be used, or has no price. */
  check(wanted: Omit<PartWanted, 'estimate'>): void {
    const { services, session } = this;
    const { part, ctx } = this.partOf(wanted);
    const { dialect, model, protocol, isTranscription } = session;
    const request = { model, protocol, isTranscription, part };
    REALTIME.plan(services, { ctx, principal: this.principal, dialect, request });
  }

  /** Throws where key or project allow the session no more. */
  checkSession(): void {
    const { services, session, principal } = this;
    const { ctx, dialect, model, protocol, isTranscription } = session;
    REALTIME.plan(services, { ctx, principal, dialect, request: { model, protocol, isTranscription } });
  }

  private get prices(): PriceBook {
    return this.services.routing().forProject(this.principal.project.id).prices;
  }

  private partOf(wanted: Omit<PartWanted, 'estimate'>): { part: SessionPart; ctx: RequestContext } {
    const { services, session } = this;
    const { target = session.target, isOther, bound } = wanted;
    const part = { target, bound, ...(isOther === undefined ? {} : { isOther }) };
    return { part, ctx: partContext(services, session.ctx) };
  }
}

const NO_PRICES = { provider: '', model: '', mode: '', prices: {}, capabilities: [] };

/** A request of its own in the session's trace. */
function partContext({ createId, clock }: Pick<Services, 'createId' | 'clock'>, ctx: RequestContext): RequestContext {
  const { trace } = ctx;
  const mark = trace?.mark && { ...trace.mark, startMs: clock.nowMs() };
  return {
    ...{ ...ctx, requestId: createId(), startMs: clock.monotonicMs() },
    ...(trace === undefined ? {} : { trace: { ...trace, mark } }),
  };
}

/** Rows of a session share a trace, by which they are found. */
export function withOwnTrace(ctx: RequestContext): RequestContext {
  if (ctx.trace !== undefined) return ctx;
  const { traceId } = traceOfRequest(ctx.requestId);
  return { ...ctx, trace: { traceId, hasSpans: false, headersFrom: () => ({}) } };
}

/** Refusals that pass: the session goes on. */
const PASSING: ReadonlySet<GatewayError['kind']> = new Set([
  ...(['rate_limit_exceeded', 'request_over_limit', 'overloaded', 'store_unavailable'] as const),
]);
export const isPassing = ({ kind }: GatewayError): boolean => PASSING.has(kind);
