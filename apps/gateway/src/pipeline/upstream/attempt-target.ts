import { type EventBatch, isOutputEvent } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { AttemptStep } from '@llm0/core/routing/attempt-plan';
import type { Route, RouteTarget } from '@llm0/core/routing/resolve-targets';
import type { AttemptMark } from '@llm0/core/routing/target-health';
import { callProvider, upstreamFailure } from '@llm0/providers/transport/call-provider';
import type { ConnectedProvider, Services } from '../../services/contract';

export type AttemptNeeds = Pick<
  Services,
  'config' | 'clock' | 'fetch' | 'egress' | 'connect' | 'routing' | 'metrics' | 'health'
>;

export interface UpstreamJob {
  /** Whose own provider keys are used, where it has some. */
  readonly projectId: string;
  readonly request: ChatRequest;
  readonly route: Route;
  readonly dropParams: boolean;
  /** Output limit to send where the request has none (strict caps). */
  readonly outputLimit?: number;
  /** Attempts that may cost something, where a strict cap pays for no more; else Infinity. */
  readonly maxAttempts: number;
  readonly startMs: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export type UpstreamStep = AttemptStep<RouteTarget>;

/** One attempt under way. */
export interface Attempt extends AttemptMark {
  readonly target: RouteTarget;
  /** undefined when its provider was taken away meanwhile. */
  readonly connected: ConnectedProvider | undefined;
  /** Everything it has sent up to its first output. */
  readonly received: EventBatch[];
  /** Its answer came second, and was cancelled. */
  isSuperseded: boolean;
}

export interface OpenedTarget {
  readonly attempt: Attempt;
  readonly status: number;
  readonly dropped: readonly string[];
  readonly batches: AsyncIterator<EventBatch>;
}

export function beginAttempt(services: AttemptNeeds, job: UpstreamJob, target: RouteTarget): Attempt {
  const connected = services.connect(target, job.projectId);
  return {
    target,
    connected,
    startedMs: services.clock.monotonicMs(),
    ownKeysOf: connected?.ownKeys === true ? job.projectId : undefined,
    received: [],
    isSuperseded: false,
  };
}

/** One attempt: resolves once the first output (or the end) is there; until then nothing was promised to the caller. */
export async function openTarget(
  services: AttemptNeeds,
  job: UpstreamJob,
  { attempt, step, signal }: { attempt: Attempt; step: UpstreamStep; signal: AbortSignal },
): Promise<OpenedTarget> {
  const { target, connected, received } = attempt;
  if (connected === undefined) {
    throw new GatewayError('upstream_error', `The provider "${target.provider}" is not configured any more.`, {
      failure: 'not_found',
    });
  }
  const answer = await callProvider({
    provider: connected.provider,
    request: job.request,
    context: {
      connection: connected.connection,
      model: target.model,
      priced: target.priced,
      dropParams: job.dropParams,
      outputLimit: job.outputLimit,
    },
    timeoutMs: step.timeoutMs,
    idleTimeoutMs: services.config.streamIdleTimeoutMs,
    signal,
    fetch: connected.fetch ?? services.fetch,
    egress: services.egress,
    keys: connected.keys,
  });
  const iterator = answer.events[Symbol.asyncIterator]();
  const isBounded = step.outputByMs !== Number.POSITIVE_INFINITY && !answer.isWhole;
  if (isBounded) await readInTime(services, { iterator, attempt, step });
  else await readUntilOutput(iterator, received);
  return { attempt, status: answer.status, dropped: answer.dropped, batches: prefixed(received, iterator) };
}

async function readUntilOutput(iterator: AsyncIterator<EventBatch>, received: EventBatch[]): Promise<void> {
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) return;
    received.push(next.value);
    if (next.value.events.some(isOutputEvent)) return;
  }
}

/** Signs of life without any output may not use up the time of the targets still to come. */
async function readInTime(
  services: AttemptNeeds,
  { iterator, attempt, step }: { iterator: AsyncIterator<EventBatch>; attempt: Attempt; step: UpstreamStep },
): Promise<void> {
  const late = Promise.withResolvers<never>();
  const onLate = () => {
    const waitedMs = Math.round(services.clock.monotonicMs() - attempt.startedMs);
    late.reject(upstreamFailure('timeout', attempt.target.provider, `sent no output within ${waitedMs} ms.`));
    void iterator.return?.();
  };
  const timer = setTimeout(onLate, Math.max(1, step.outputByMs - services.clock.monotonicMs()));
  try {
    await Promise.race([readUntilOutput(iterator, attempt.received), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The batches already read, then the rest. */
function prefixed(first: readonly EventBatch[], rest: AsyncIterator<EventBatch>): AsyncIterator<EventBatch> {
  let index = 0;
  return {
    next: () => {
      const batch = first[index];
      if (batch === undefined) return rest.next();
      index += 1;
      return Promise.resolve({ done: false, value: batch });
    },
    return: () => rest.return?.() ?? Promise.resolve({ done: true, value: undefined }),
  };
}
