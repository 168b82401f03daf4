import type { CachedEmbedding } from '@llm0/core/cache/cached-embedding';
import type { AttemptSummary } from '@llm0/core/errors/gateway-error';
import { firstChoice } from '@llm0/core/routing/resolve-targets';
import type { Target } from '@llm0/core/routing/target';
import { Booking, type BookingInput, type Ending } from '../metering/booking';
import { isEstimate } from '../request/check-costly';
import type { CollectedEmbeddings } from './collect-embeddings';
import type { EmbeddingPlan } from './plan-embeddings';

/** Summary of settled embeddings for the caller. */
export interface EmbeddingsSettled {
  readonly target: Target;
  readonly cache: 'exact' | 'miss';
  readonly latencyMs: number;
  readonly overheadMs: number;
}

/** Measures one request for embeddings, and settles it once. */
export class EmbeddingMeter extends Booking<BookingInput<EmbeddingPlan, CachedEmbedding>> {
  complete({ entries, upstream, usage, costNanoUsd, fresh }: CollectedEmbeddings): EmbeddingsSettled {
    const { plan, decision, principal, queuedMs = 0 } = this.input.admission;
    const target = upstream?.target ?? entries[0] ?? plan.route.targets[0];
    const cache = upstream === undefined && decision.type !== 'replayed' ? 'exact' : 'miss';
    const latencyMs = this.elapsedMs();
    const { firstWaitMs = 0, pausedMs = 0 } = upstream ?? {};
    const overheadMs = Math.max(0, latencyMs - firstWaitMs - queuedMs);
    const known = upstream === undefined ? entries : [...plan.known.values()];
    const [first, ...others] = fresh;
    const wasted = upstream?.wastedNanoUsd ?? 0;
    const waste = wasted === 0 ? {} : { other_attempts: wasted };
    const isHidden = upstream !== undefined && (upstream.estimated || plan.others !== undefined);
    const told = isEstimate(plan, usage) && upstream !== undefined ? { ...usage, estimated: true } : usage;
    const booked = this.unfinished(told, costNanoUsd, { isBilled: isHidden });
    this.settle(
      {
        ...this.described(target),
        ...{ ...booked, cache },
        costDetail: upstream && { input: booked.costNanoUsd - wasted, ...waste },
        savedNanoUsd: known.reduce((sum, entry) => sum + entry.costNanoUsd, 0),
        latencyMs,
        overheadMs,
        upstreamMs: upstream && Math.max(0, firstWaitMs - pausedMs),
        ttftMs: latencyMs,
        attempts: upstream?.attempts ?? [],
        failoverCount: upstream?.failoverCount ?? 0,
        dropped: upstream?.dropped,
        ...{ status: 'success', httpStatus: 200 },
      },
      first,
      upstream?.inputTokens ?? 0,
    );
    for (const entry of others) this.services.hotStore.cacheWrite(principal.project.id, entry);
    return { target, cache, latencyMs, overheadMs };
  }

  protected end(ending: Ending, failed?: readonly AttemptSummary[]): void {
    this.settle({
      ...this.described(),
      ...{ savedNanoUsd: 0, cache: 'miss' },
      latencyMs: this.elapsedMs(),
      ...this.unanswered(failed),
      ...ending,
    });
  }

  private described(answered?: Target) {
    const { requestedModel, plan } = this.input.admission;
    const [first] = plan.route.targets;
    const model = answered?.model ?? first.model;
    return {
      requestedModel,
      stream: false,
      provider: firstChoice(plan.route).provider,
      finalProvider: answered?.provider,
      model,
    };
  }
}
