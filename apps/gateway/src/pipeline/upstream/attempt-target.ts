import { inTime } from '@llm0/core/async/in-time';
import type { Held } from '@llm0/core/async/room';
import { type EventBatch, isOutputEvent } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { connectTimeoutMs } from '@llm0/core/routing/attempt-plan';
import type { RouteTarget } from '@llm0/core/routing/resolve-targets';
import type { UpstreamResponse } from '@llm0/core/upstream/upstream-response';
import type { UpstreamRequest } from '@llm0/providers/provider-request';
import { callProvider, upstreamFailure } from '@llm0/providers/transport/call-provider';
import type { ConnectedProvider, Services } from '../../services/contract';
import type { Attempt, UpstreamStep } from './attempt';
import type { UpstreamJob, UpstreamNeeds } from './upstream-call';

export type ChatNeeds = UpstreamNeeds & Pick<Services, 'mediaEgress'>;

export interface ChatJob extends UpstreamJob<ChatRequest> {
  /** Output limit to send where the request has none (strict caps). */
  readonly outputLimit?: number;
  /** Called with each body sent to a provider; the last one got the answer. */
  readonly onSend?: ((body: UpstreamRequest['body']) => void) | undefined;
  readonly onEnd?: (() => void) | undefined;
  /** Of `signal`. */
  readonly abort: AbortController;
  /** Memory held until the end of the answer. */
  readonly held?: Pick<Held, 'end' | 'tryTake'>;
}

/** `received`: everything it has sent up to its first output. */
export type ChatAttempt = Attempt<EventBatch[]>;

export interface OpenedTarget {
  readonly attempt: ChatAttempt;
  readonly status: number;
  readonly dropped: readonly string[];
  readonly batches: UpstreamResponse['batches'];
}

/** One attempt: resolves once the first output (or the end) is there; until then nothing was promised to the caller. */
export async function openTarget(
  services: ChatNeeds,
  job: ChatJob,
  { attempt, step, signal }: { attempt: ChatAttempt; step: UpstreamStep; signal: AbortSignal },
): Promise<OpenedTarget> {
  const { target, received, connected } = attempt;
  if (connected === undefined) throw notConfigured(target);
  let sent: UpstreamRequest['body'] | undefined;
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
    connectTimeoutMs: connectTimeoutMs(target.timeouts, services.config),
    idleTimeoutMs: services.config.streamIdleTimeoutMs,
    maxAnswerBytes: services.config.maxResponseBytes,
    signal,
    fetch: connected.fetch ?? services.fetch,
    egress: services.mediaEgress,
    keys: connected.keys,
    slots: attempt.slots,
    room: job.room,
    trace: job.trace?.headersFrom(attempt.number),
    onSend: (body) => {
      attempt.isSent = true;
      sent = body;
      job.onSend?.(body);
    },
  });
  attempt.isAnswered = true;
  // A hedge may have been sent meanwhile.
  if (sent !== undefined) job.onSend?.(sent);
  const { status, dropped } = answer;
  const batch = answer.whole?.();
  if (batch !== undefined) {
    received.push(batch instanceof Promise ? await batch : batch);
    return { attempt, status, dropped, batches: received };
  }
  const iterator = answer.events[Symbol.asyncIterator]();
  if (step.outputByMs !== Number.POSITIVE_INFINITY) await readInTime(services, { iterator, attempt, step });
  else await readUntilOutput(iterator, received);
  const isComplete = received.at(-1)?.isLast === true;
  return { attempt, status, dropped, batches: isComplete ? received : prefixed(received, iterator) };
}

async function readUntilOutput(iterator: AsyncIterator<EventBatch>, received: EventBatch[]): Promise<void> {
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) return;
    received.push(next.value);
    if (next.value.whole !== undefined || next.value.events.some(isOutputEvent)) return;
  }
}

/** Keep-alives without output must not use up later targets' time. */
async function readInTime(
  services: ChatNeeds,
  { iterator, attempt, step }: { iterator: AsyncIterator<EventBatch>; attempt: ChatAttempt; step: UpstreamStep },
): Promise<void> {
  const leftMs = Math.max(1, step.outputByMs - services.clock.monotonicMs());
  await inTime(readUntilOutput(iterator, attempt.received), leftMs, () => {
    void iterator.return?.();
    const waitedMs = Math.round(services.clock.monotonicMs() - attempt.startedMs);
    throw upstreamFailure('timeout', attempt.target.provider, `sent no output within ${waitedMs} ms.`);
  });
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

/** Connection of the target; throws if its provider was removed since the decision. */
export function stillConnected({ connected, target }: Attempt): ConnectedProvider {
  if (connected === undefined) throw notConfigured(target);
  return connected;
}

export function notConfigured({ provider }: RouteTarget): GatewayError {
  const message = `The provider "${provider}" is not configured any more.`;
  return new GatewayError('upstream_error', message, { failure: 'not_found' });
}
