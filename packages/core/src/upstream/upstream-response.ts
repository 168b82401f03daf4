import type { Held } from '../async/room';
import type { EventBatch } from '../chat/event';
import type { Usage } from '../chat/usage';
import type { LogAttempt } from '../logs/log-record';
import type { Target } from '../routing/target';

/** Attempts until one target answered. */
export interface UpstreamEffort<T extends Target = Target> {
  /** Provider that answered. */
  readonly target: T;
  /** All attempts so far, the answering one last. */
  readonly attempts: readonly LogAttempt[];
  /** Number of switches to another target. */
  readonly failoverCount: number;
  /** Nano-USD that failed and superseded attempts cost. */
  readonly wastedNanoUsd: number;
  /** Part of that is a guess. */
  readonly wasteEstimated?: boolean;
  /** Milliseconds from the start of the first attempt to the first output, if any. Work before it is the gateway's own. */
  readonly firstWaitMs: number;
  /** Part of that spent in pauses before other attempts, when no upstream worked. */
  readonly pausedMs?: number;
}

/** Cost of a call without an answer. */
export interface UpstreamSpend {
  /** All so far; running ones are `aborted`. */
  readonly attempts: readonly LogAttempt[];
  /** Integer nano-USD of all of them. */
  readonly costNanoUsd: number;
  /** Their tokens, guessed where no vendor reported any. */
  readonly usage: Usage;
  /** True if a vendor may bill one of them. */
  readonly isBilled: boolean;
}

/** A call under way. */
export interface Spending {
  /** undefined if another request pays. */
  readonly spent: () => UpstreamSpend | undefined;
}

/**
 * An upstream's answer from its first output on; `batches` starts with everything so far, and is a list if complete.
 */
export interface UpstreamResponse extends UpstreamEffort {
  /** Parameters of the request that were left out. */
  readonly dropped: readonly string[];
  readonly batches: AsyncIterator<EventBatch> | readonly EventBatch[];
  /** The answering model by the vendor's name; absent if unreported. */
  readonly answeredBy?: string;
  /** Called if the answer breaks after its first output. */
  readonly onBroken?: (error: unknown) => void;
}

/** A call that was begun. */
export interface UpstreamCalling<R extends UpstreamResponse = UpstreamResponse> {
  readonly response: Promise<R>;
  /** Cost so far. `read`: batches read of the answer. */
  readonly spent: (read: readonly EventBatch[]) => UpstreamSpend;
  /** Called once at the end of the answer, or when nobody waits for it. */
  end?(): void;
}

/** A call to an upstream, and its cancellation once nobody waits. */
export interface UpstreamCallUnderWay<R extends UpstreamResponse = UpstreamResponse> extends UpstreamCalling<R> {
  readonly abort: AbortController;
  /** Memory held until it ends. */
  readonly held?: Pick<Held, 'end' | 'tryTake'>;
}

/** Flights that others may join. */
export interface OpenFlights {
  readonly maxKeptBytes: number;
  /** Nobody can join it any more. */
  close(key: string, flight: unknown): void;
}
