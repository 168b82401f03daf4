import { type BuiltInAnswer, embedBuiltIn } from '@llm0/core/embedding/built-in-embeddings';
import type { EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import { roundedNanoUsd } from '@llm0/core/pricing/compute-cost';
import { AttemptPlan, type AttemptStep } from '@llm0/core/routing/attempt-plan';
import type { Route, RouteTarget } from '@llm0/core/routing/resolve-targets';
import {
  callEmbeddings,
  type EmbeddedInputs,
  EmbeddingFailure,
  makesEmbeddings,
} from '@llm0/providers/transport/call-embeddings';
import type { Services } from '../../services/contract';
import { pause } from '../upstream/back-off';
import { countSwitches } from '../upstream/count-switches';
import { finalFailure } from '../upstream/final-failure';
import { isBuiltIn } from './plan-embeddings';

export type EmbedNeeds = Pick<
  Services,
  'config' | 'clock' | 'fetch' | 'connect' | 'metrics' | 'health' | 'builtInEmbedder'
>;

export interface EmbedUpstreamJob {
  readonly projectId: string;
  readonly request: EmbeddingRequest;
  readonly route: Route;
  readonly dropParams: boolean;
  /** Attempts that may cost something, where a strict cap pays for no more; else Infinity. */
  readonly maxAttempts: number;
  readonly startMs: number;
  readonly signal: AbortSignal;
}

export interface UpstreamEmbeddings extends EmbeddedInputs {
  readonly target: RouteTarget;
  readonly attempts: readonly LogAttempt[];
  readonly failoverCount: number;
  /** Cost of what failed before. */
  readonly wastedNanoUsd: number;
  readonly waitMs: number;
}

/** Tries the targets in order; throws one error that lists every attempt. */
export async function embedUpstream(services: EmbedNeeds, job: EmbedUpstreamJob): Promise<UpstreamEmbeddings> {
  const attempts = new EmbedAttempts(services, job);
  for (let step = attempts.next(); step !== undefined; step = attempts.next()) {
    if (step.waitMs > 0) await pause(step.waitMs, job.signal);
    const answer = await attempts.ask(step);
    if (answer !== undefined) return answer;
  }
  throw attempts.failure();
}

class EmbedAttempts {
  private readonly attempts: LogAttempt[] = [];
  private readonly plan: AttemptPlan<RouteTarget>;
  private readonly startedMs: number;
  private last: GatewayError | undefined;
  private soonestRetryMs = Number.POSITIVE_INFINITY;
  private billable = 0;
  private wastedNanoUsd = 0;

  constructor(
    private readonly services: EmbedNeeds,
    private readonly job: EmbedUpstreamJob,
  ) {
    this.startedMs = services.clock.monotonicMs();
    this.plan = new AttemptPlan({
      targets: job.route.targets,
      requestTimeoutMs: services.config.requestTimeoutMs,
      nowMs: this.startedMs,
      refuses: (target) => services.health.refuses(target, job.projectId),
      random: Math.random,
    });
  }

  next(): AttemptStep<RouteTarget> | undefined {
    if (this.billable >= this.job.maxAttempts) return undefined;
    return this.plan.next(this.services.clock.monotonicMs());
  }

  /** undefined when the target failed and another attempt may be made; throws when none may. */
  async ask(step: AttemptStep<RouteTarget>): Promise<UpstreamEmbeddings | undefined> {
    const { target } = step;
    const startedMs = this.services.clock.monotonicMs();
    const ownKeysOf =
      this.services.connect(target, this.job.projectId)?.ownKeys === true ? this.job.projectId : undefined;
    try {
      const embedded = await this.embed(step);
      this.services.health.succeeded(target, { startedMs, ownKeysOf });
      this.note(target, startedMs, { outcome: 'ok', status: 200 });
      const { attempts, wastedNanoUsd } = this;
      const waitMs = this.services.clock.monotonicMs() - this.startedMs;
      return { ...embedded, target, attempts, failoverCount: countSwitches(attempts), wastedNanoUsd, waitMs };
    } catch (thrown) {
      this.noteFailure(target, { startedMs, ownKeysOf }, thrown);
      return undefined;
    }
  }

  failure(): GatewayError {
    const error = this.last ?? new GatewayError('upstream_timeout', 'No time was left to ask a provider.');
    return finalFailure(error, this.attempts, this.soonestRetryMs);
  }

  private async embed({ target, timeoutMs }: AttemptStep<RouteTarget>): Promise<EmbeddedInputs> {
    const { services, job } = this;
    const { request, signal } = job;
    if (isBuiltIn(target)) return whole(await embedBuiltIn(services.builtInEmbedder, { request, timeoutMs, signal }));
    const connected = services.connect(target, job.projectId);
    if (connected === undefined || !makesEmbeddings(connected.provider)) {
      throw new GatewayError('upstream_error', `The provider "${target.provider}" is not configured any more.`, {
        failure: 'not_found',
      });
    }
    return callEmbeddings({
      provider: connected.provider,
      request,
      context: {
        connection: connected.connection,
        model: target.model,
        priced: target.priced,
        dropParams: job.dropParams,
      },
      ...{ timeoutMs, signal, keys: connected.keys },
      fetch: connected.fetch ?? services.fetch,
    });
  }

  private noteFailure(target: RouteTarget, mark: { startedMs: number; ownKeysOf?: string }, thrown: unknown): void {
    const error = thrown instanceof EmbeddingFailure ? thrown.cause : thrown;
    if (this.job.signal.aborted || !(error instanceof GatewayError) || error.failure === undefined) {
      this.services.health.abandoned(target);
      throw error;
    }
    const { failure, retryAfterMs } = error;
    const costNanoUsd = thrown instanceof EmbeddingFailure ? costOf(target, thrown.billed.inputTokens) : 0;
    this.wastedNanoUsd += costNanoUsd;
    if (costNanoUsd > 0 || error.upstreamStatus === undefined) this.billable += 1;
    const status = error.upstreamStatus;
    this.note(target, mark.startedMs, { outcome: failure, status, ...(costNanoUsd > 0 ? { costNanoUsd } : {}) });
    this.services.metrics.upstreamFailures.inc({ provider: target.provider, failure });
    this.services.health.failed(target, failure, { ...mark, retryAfterMs });
    this.last = error;
    if (retryAfterMs !== undefined) this.soonestRetryMs = Math.min(this.soonestRetryMs, retryAfterMs);
    if (!this.plan.failed(target, failure, retryAfterMs)) throw this.failure();
  }

  private note(
    { provider, model }: RouteTarget,
    startedMs: number,
    attempt: Pick<LogAttempt, 'outcome' | 'status' | 'costNanoUsd'>,
  ): void {
    const latencyMs = this.services.clock.monotonicMs() - startedMs;
    this.attempts.push({ provider, model, startMs: startedMs - this.job.startMs, latencyMs, ...attempt });
  }
}

const whole = (answer: BuiltInAnswer): EmbeddedInputs => ({ ...answer, dropped: [], estimated: false });

/** Integer nano-USD of input tokens at a target; 0 where it has no price. */
export function costOf({ priced }: RouteTarget, tokens: number): number {
  return priced?.prices.input === undefined ? 0 : roundedNanoUsd([[tokens, priced.prices.input]]);
}
