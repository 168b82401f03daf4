import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { AttemptSummary, GatewayError } from '@llm0/core/errors/gateway-error';
import type { AdmitPlan, CacheWrite } from '@llm0/core/limits/hot-store';
import type { DialectName, LogAttempt, LogRecord } from '@llm0/core/logs/log-record';
import { firstChoice, type Route } from '@llm0/core/routing/routing-tables';
import { isSameTarget, type Target } from '@llm0/core/routing/target';
import type { Spending } from '@llm0/core/upstream/upstream-response';
import type { Services } from '../../services/contract';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import { countSwitches } from '../upstream/attempt';
import { buildRecord, errorOutcome, type FoundByGuardrails, type Outcome, settleRecord } from './build-record';

export type BookingNeeds = Pick<Services, 'hotStore' | 'leases' | 'clock' | 'metrics'>;

/** Common part of all plans: the hold. */
interface Held {
  readonly admit: Pick<AdmitPlan, 'holdNanoUsd'>;
  readonly route?: Route;
}

export interface BookingInput<P extends Held = Held, S = unknown> {
  readonly ctx: RequestContext;
  readonly dialect: DialectName;
  readonly admission: Admission<P, S>;
}

/** End of a request in an outcome. */
export type Ending = Pick<Outcome, 'status' | 'httpStatus' | 'error'>;

/** Attempts of an unanswered call, for its row. */
export type Unanswered = Pick<Outcome, 'attempts' | 'failoverCount' | 'costNanoUsd' | 'costDetail' | 'usage'>;

/**
 * Renews the hold of one admitted request and settles it exactly once: the store has the settlement before `fail` and
 * `abort` return. Later endings do nothing.
 */
export abstract class Booking<I extends BookingInput = BookingInput> {
  /** Set once settled: resolves when the settlement outlives this process; undefined = it does already. */
  handedOver: Promise<void> | undefined;
  /** Guardrail findings of its row. */
  guard: FoundByGuardrails | undefined;
  private settled = false;
  /** Only admissions set a hold; exact hits and undecided requests have none. */
  private readonly held: boolean;
  private call: Spending | undefined;

  constructor(
    protected readonly services: BookingNeeds,
    protected readonly input: I,
  ) {
    const { admission, ctx } = input;
    this.held = admission.decision.type === 'admitted';
    if (this.held) services.leases.add(admission.principal.project.id, ctx.requestId);
  }

  /** From now on, a call may cost something without an answer. */
  watch(call: Spending): void {
    this.call = call;
  }

  /** The answer failed, before or after its first output. Books the upstream's output so far. */
  fail(error: GatewayError): void {
    if (error.kind === 'client_closed') this.abort();
    else if (!this.settled) this.end(errorOutcome(error), error.attempts);
  }

  /** The caller disconnected: books the output so far. */
  abort(): void {
    if (!this.settled) this.end(ABORTED);
  }

  /** Settles an incomplete answer. `failed`: attempts of a call without an answer. */
  protected abstract end(ending: Ending, failed?: readonly AttemptSummary[]): void;

  /** Writes the row; undefined if already settled. `tokens`: other than the usage's, for the key's minute. */
  protected settle(outcome: Outcome, cache?: CacheWrite, tokens?: number): LogRecord | undefined {
    if (this.settled) return undefined;
    this.settled = true;
    const { ctx, dialect, admission } = this.input;
    const { principal, decision } = admission;
    const { guard } = this;
    const holdNanoUsd = this.held ? admission.plan.admit.holdNanoUsd : undefined;
    const isReplay = decision.type === 'replayed';
    const { route } = admission.plan;
    const origin = { ctx, principal, dialect, createdAtMs: decision.nowMs, holdNanoUsd, guard, isReplay, route };
    const record = buildRecord(origin, outcome);
    this.services.leases.remove(ctx.requestId, principal.key.id);
    this.handedOver = settleRecord(this.services, record, {
      held: this.held,
      // A cache hit uses no tokens of the key.
      tokens: tokens ?? (outcome.cache === 'miss' ? record.tokensIn + record.tokensOut : 0),
      levels: principal.levels,
      cache,
    });
    return record;
  }

  /** Spend of an unanswered or abandoned request. */
  protected unanswered(failed: readonly AttemptSummary[] = []): Unanswered {
    const spend = this.call?.spent();
    const attempts = spend?.attempts ?? failed.map(asLogAttempt);
    const unfinished =
      spend === undefined ? NO_COST : this.unfinished(spend.usage, spend.costNanoUsd, { isBilled: spend.isBilled });
    const { costNanoUsd } = unfinished;
    const costDetail = costNanoUsd > 0 ? { other_attempts: costNanoUsd } : undefined;
    return { ...unfinished, attempts, failoverCount: countSwitches(attempts), costDetail };
  }

  /**
   * Amount for work that a vendor may bill but didn't report completely. Under an absolute cap, an unknown amount
   * counts as the full hold.
   */
  protected unfinished(
    usage: Usage,
    costNanoUsd: number,
    { isBilled, heldNanoUsd = this.input.admission.plan.admit.holdNanoUsd }: Unfinished,
  ): Pick<Outcome, 'usage' | 'costNanoUsd'> {
    const { strictCaps } = this.input.admission.principal.project;
    if (!isBilled || !strictCaps || heldNanoUsd <= costNanoUsd) return { usage, costNanoUsd };
    return { usage: { ...usage, estimated: true }, costNanoUsd: heldNanoUsd };
  }

  protected elapsedMs(): number {
    return this.services.clock.monotonicMs() - this.input.ctx.startMs;
  }
}

export interface Unfinished {
  readonly isBilled: boolean;
  /** The known cost plus the hold of the unknown side; else the whole hold. */
  readonly heldNanoUsd?: number | undefined;
}

const ABORTED: Ending = {
  status: 'aborted',
  httpStatus: 499,
  error: { code: 'client_closed', message: 'The caller closed the connection before the answer was complete.' },
};

const NO_COST = { usage: ZERO_USAGE, costNanoUsd: 0 } as const;

export const asLogAttempt = ({
  failure,
  startMs = 0,
  costNanoUsd: _others,
  ...attempt
}: AttemptSummary): LogAttempt => ({
  ...attempt,
  outcome: failure,
  startMs,
});

/** Fallback answers expire early, when the first choice is likely back. */
const FALLBACK_TTL_SECONDS = 60;

/** Cache lifetime of an answer: the caller's, else the project's, else the gateway's. */
export function cacheTtlMs(
  { config }: Pick<Services, 'config'>,
  {
    ctx,
    admission,
  }: { readonly ctx: RequestContext; readonly admission: Admission<{ readonly route: Route }, unknown> },
  answered: Target,
): number {
  const ttlSeconds =
    ctx.controls.cacheTtlSeconds ?? admission.principal.project.cacheTtlSeconds ?? config.cacheTtlSeconds;
  const first = firstChoice(admission.plan.route);
  const isFirst = answered === first || isSameTarget(answered, first);
  return 1000 * (isFirst ? ttlSeconds : Math.min(ttlSeconds, FALLBACK_TTL_SECONDS));
}
