import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { type BuiltInAnswer, embedBuiltIn } from '@llm0/core/embedding/built-in-embeddings';
import type { EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import { connectTimeoutMs } from '@llm0/core/routing/attempt-plan';
import type { RouteTarget } from '@llm0/core/routing/resolve-targets';
import type { UpstreamEffort } from '@llm0/core/upstream/upstream-response';
import {
  callEmbeddings,
  type EmbeddedInputs,
  type EmbeddedTokens,
  EmbeddingFailure,
  makesEmbeddings,
} from '@llm0/providers/transport/call-embeddings';
import type { Services } from '../../services/contract';
import type { Attempt, UpstreamStep } from '../upstream/attempt';
import { notConfigured, stillConnected } from '../upstream/attempt-target';
import { isBuiltIn } from '../upstream/built-in-route';
import type { WholeCalling } from '../upstream/share-call';
import { UpstreamCall, type UpstreamJob, type UpstreamNeeds } from '../upstream/upstream-call';

export type EmbedNeeds = UpstreamNeeds & Pick<Services, 'builtInEmbedder'>;

export type UpstreamEmbeddings = EmbeddedInputs & UpstreamEffort<RouteTarget>;

/** Tries the targets in order; rejects with one error that lists every attempt. */
export function embedUpstream(
  services: EmbedNeeds,
  job: UpstreamJob<EmbeddingRequest>,
): WholeCalling<UpstreamEmbeddings> {
  const call = new EmbeddingCall(services, job);
  return { response: call.run(), spent: () => call.spent() };
}

/** Cost of a failed attempt. */
interface Received {
  billed?: EmbeddedTokens;
}

interface OpenedEmbeddings {
  readonly attempt: Attempt<Received>;
  readonly embedded: EmbeddedInputs;
}

class EmbeddingCall extends UpstreamCall<
  UpstreamJob<EmbeddingRequest>,
  Received,
  OpenedEmbeddings,
  UpstreamEmbeddings
> {
  constructor(
    private readonly needs: EmbedNeeds,
    job: UpstreamJob<EmbeddingRequest>,
  ) {
    super(needs, job);
  }

  protected createReceived(): Received {
    return {};
  }

  protected async open(attempt: Attempt<Received>, step: UpstreamStep): Promise<OpenedEmbeddings> {
    try {
      return { attempt, embedded: await this.embed(attempt, step) };
    } catch (error) {
      if (!(error instanceof EmbeddingFailure)) throw error;
      attempt.received.billed = error.billed;
      throw error.cause;
    }
  }

  protected usageOf({ received: { billed } }: Attempt<Received>): Usage | undefined {
    return (
      billed && { ...ZERO_USAGE, inputTokens: billed.inputTokens, ...(billed.estimated ? { estimated: true } : {}) }
    );
  }

  protected resultOf({ attempt, embedded }: OpenedEmbeddings): UpstreamEmbeddings {
    attempt.slots?.end();
    return { ...embedded, ...this.noteSuccess(attempt, { status: 200 }) };
  }

  private async embed(attempt: Attempt, { timeoutMs }: UpstreamStep): Promise<EmbeddedInputs> {
    const { needs, job } = this;
    const { request, signal, dropParams } = job;
    const { target } = attempt;
    if (isBuiltIn(target)) return whole(await embedBuiltIn(needs.builtInEmbedder, { request, timeoutMs, signal }));
    const { provider, connection, keys, fetch = needs.fetch } = stillConnected(attempt);
    if (!makesEmbeddings(provider)) throw notConfigured(target);
    const context = { connection, model: target.model, priced: target.priced, dropParams };
    const { maxResponseBytes: maxAnswerBytes } = needs.config;
    const trace = job.trace?.headersFrom(attempt.number);
    const onSend = () => {
      attempt.isSent = true;
    };
    return callEmbeddings({
      provider,
      request,
      context,
      ...{ timeoutMs, connectTimeoutMs: connectTimeoutMs(target.timeouts, needs.config) },
      maxAnswerBytes,
      signal,
      ...{ keys, slots: attempt.slots },
      fetch,
      trace,
      onSend,
      room: job.room,
    });
  }
}

const whole = (answer: BuiltInAnswer): EmbeddedInputs => ({ ...answer, dropped: [], estimated: false });
