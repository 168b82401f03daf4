import type { SentAnswer } from '@llm0/core/cache/cached-answer';
import type { SemanticAnswer } from '@llm0/core/cache/semantic/semantic-cache';
import type { EventBatch } from '@llm0/core/chat/event';
import type { ChatResponse } from '@llm0/core/chat/response';
import type { Spending, UpstreamEffort } from '@llm0/core/upstream/upstream-response';
import type { CacheOutcome } from '../../dialects/dialect';

/** Source of an answer; the meter only reads it. */
export interface MeteredCompletion extends UpstreamEffort {
  readonly cache: CacheOutcome;
  readonly similarity?: number;
  /** See `CachedAnswer`. */
  readonly matchedBy?: string;
  /** Parameters of the request that were left out. */
  readonly dropped: readonly string[];
  /** See `UpstreamResponse`. */
  readonly answeredBy?: string;
  /** True when this request has to settle the cost of the answer. */
  readonly pays: () => boolean;
  readonly received: () => readonly EventBatch[];
  /**
   * Answer for caches, before guardrails change it: every hit is judged again. Returns undefined if it was too large to
   * keep.
   */
  readonly original?: () => ChatResponse | undefined;
  /** Saving of a hit. */
  readonly savedNanoUsd: number;
  /** Receives a complete answer for the cache. */
  readonly onCached?: (answer: SemanticAnswer) => void;
}

/** An answer under way from any source. */
export interface Completion extends MeteredCompletion {
  /** The whole answer if known, which avoids replaying and collecting. */
  readonly whole?: ChatResponse;
  /** The only batch of an upstream's answer, if it came at once: nothing is left to read. */
  readonly atOnce?: EventBatch;
  /** `whole` is too much to be worked on at once. */
  readonly isLarge?: boolean;
  /** Answer of the first caller with this `Idempotency-Key`. */
  readonly sent?: SentAnswer;
  /** Next batch, null at the end, synchronous if available; throws the upstream's failure. */
  next(): EventBatch | null | Promise<EventBatch | null>;
  /** The reader goes; before the end this may cancel the upstream. */
  leave(): void;
}

/** The same answer with other parts. */
export const changed = (answer: Completion, parts: Partial<Completion>): Completion =>
  Object.assign(Object.create(answer) as Completion, parts);

/** An answer that is being waited for. */
export interface PendingCompletion extends Spending {
  /** Resolves at the first output. */
  readonly answer: Promise<Completion>;
  /** The answer, where nothing has to be waited for. */
  readonly ready?: Completion;
  /** The caller went away meanwhile. */
  leave(): void;
}
