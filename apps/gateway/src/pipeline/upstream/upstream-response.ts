import type { EventBatch } from '@llm0/core/chat/event';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import type { Target } from '@llm0/core/routing/target';

/** What it took until one target answered. */
export interface UpstreamEffort<T extends Target = Target> {
  /** Who answered. */
  readonly target: T;
  /** All attempts so far, the answering one last. */
  readonly attempts: readonly LogAttempt[];
  /** How often another target was asked than just before. */
  readonly failoverCount: number;
  /** Nano-USD that failed and superseded attempts cost. */
  readonly wastedNanoUsd: number;
  /** Part of that is a guess. */
  readonly wasteEstimated?: boolean;
  /** Milliseconds spent waiting for upstreams, until the first output where there is one. */
  readonly firstWaitMs: number;
}

/** An upstream's answer from its first output on; `batches` begins with everything up to there. */
export interface UpstreamResponse extends UpstreamEffort {
  /** Parameters of the request that were left out. */
  readonly dropped: readonly string[];
  readonly batches: AsyncIterator<EventBatch>;
  /** Told when the answer breaks off after its first output. */
  readonly onBroken?: (error: unknown) => void;
}
