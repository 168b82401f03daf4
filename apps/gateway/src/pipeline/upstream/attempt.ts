import type { AttemptStep } from '@llm0/core/routing/attempt-plan';
import type { TakenSlots } from '@llm0/core/routing/places/slots';
import type { RouteTarget } from '@llm0/core/routing/resolve-targets';
import { isSameTarget, type Target } from '@llm0/core/routing/target';
import type { AttemptMark } from '@llm0/core/routing/target-health';
import type { ConnectedProvider } from '../../services/contract';

export type UpstreamStep = AttemptStep<RouteTarget>;

/** One attempt under way. */
export interface Attempt<Received = unknown> extends AttemptMark {
  readonly target: RouteTarget;
  /** Counts from 1 in start order. */
  readonly number: number;
  /** undefined when its provider was taken away meanwhile. */
  readonly connected: ConnectedProvider | undefined;
  /** Places to free at its end, if the provider has limited ones. */
  readonly slots: TakenSlots | undefined;
  /** Progress so far. */
  readonly received: Received;
  /** True once it may have reached the vendor. */
  isSent: boolean;
  /** A 2xx arrived: the vendor accepted the request. */
  isAnswered: boolean;
  /** Cancelled because another attempt answered first. */
  isSuperseded: boolean;
}

/** Number of switches to another target. */
export function countSwitches(attempts: readonly Target[]): number {
  if (attempts.length < 2) return 0;
  return attempts.filter((attempt, index) => !isSameTarget(attempt, attempts[index - 1] ?? attempt)).length;
}
