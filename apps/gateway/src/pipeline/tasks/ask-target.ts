import type { Held } from '@llm0/core/async/room';
import type { JsonObject } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import { connectTimeoutMs } from '@llm0/core/routing/attempt-plan';
import type { RouteTarget } from '@llm0/core/routing/resolve-targets';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { UpstreamEffort } from '@llm0/core/upstream/upstream-response';
import { type CalledTask, callTask } from '@llm0/providers/transport/call-task';
import type { Services } from '../../services/contract';
import type { Attempt, UpstreamStep } from '../upstream/attempt';
import { notConfigured, stillConnected } from '../upstream/attempt-target';
import { isBuiltIn } from '../upstream/built-in-route';
import { flightKey, type SharedCalling, shareCall } from '../upstream/share-call';
import { UpstreamCall, type UpstreamJob, type UpstreamNeeds } from '../upstream/upstream-call';
import { type BoundedTask, boundTask } from './plan-task';
import type { Task } from './task';

export type AskNeeds = UpstreamNeeds & Pick<Services, 'builtInEmbedder' | 'flights'>;

export interface AskedTask<R extends TaskRequest, A extends JsonObject> extends UpstreamJob<R> {
  readonly task: Task<R, A>;
  readonly isStrict: boolean;
  readonly room: Held;
  /** Cache key that identical requests share one call by. */
  readonly sharedBy: string | undefined;
}

/** An answer, or the beginning of one, and what it took. */
export type TaskResponse<A> = CalledTask<A> & UpstreamEffort<RouteTarget>;

/** Tries the targets in order; rejects with one error that lists every attempt. */
export function askTargets<R extends TaskRequest, A extends JsonObject>(
  services: AskNeeds,
  job: AskedTask<R, A>,
): SharedCalling<TaskResponse<A>> {
  return shareCall(services, {
    ...{ key: flightKey(job.sharedBy, job.route), signal: job.signal, hold: () => job.room.share() },
    start: (signal) => {
      const call = new TaskCall(services, { ...job, signal });
      return { response: call.run(), spent: () => call.spent() };
    },
  });
}

/** Usage for what no vendor told: as much as was held. */
export function guessTask<R extends TaskRequest, A extends JsonObject>(
  services: Pick<Services, 'connect'>,
  bounded: BoundedTask<R, A>,
  target: Pick<RouteTarget, 'provider' | 'model' | 'priced'>,
): Usage {
  const { provider, model } = target;
  const unpriced: PricedModel = { provider, model, mode: '', prices: {}, capabilities: [] };
  const { priced = unpriced } = target;
  const estimated = bounded.task.billsBound?.(priced) !== true;
  return { ...boundTask(services, bounded, priced), estimated };
}

interface Opened<A> {
  readonly attempt: Attempt<undefined>;
  readonly called: CalledTask<A>;
}

class TaskCall<R extends TaskRequest, A extends JsonObject> extends UpstreamCall<
  AskedTask<R, A>,
  undefined,
  Opened<A>,
  TaskResponse<A>
> {
  constructor(
    private readonly needs: AskNeeds,
    job: AskedTask<R, A>,
  ) {
    super(needs, job);
  }

  protected createReceived(): undefined {
    return undefined;
  }

  protected async open(attempt: Attempt<undefined>, step: UpstreamStep): Promise<Opened<A>> {
    const called = await this.call(attempt, step).catch((error: unknown) => {
      // What the caller sends badly isn't the vendor's failure.
      throw this.job.request.file?.rest?.fault() ?? error;
    });
    attempt.isAnswered = true;
    return { attempt, called };
  }

  /** A file that went on as it came can't be sent again. */
  protected override nextStep(nowMs?: number): UpstreamStep | undefined {
    return this.job.request.file?.rest?.isSpent() === true ? undefined : super.nextStep(nowMs);
  }

  protected usageOf({ target }: Attempt<undefined>, isBilled: boolean): Usage | undefined {
    if (!isBilled) return undefined;
    // Nobody hears half a file.
    const isFree = isBuiltIn(target) || this.job.request.file?.rest?.isCutOff() === true;
    return isFree ? ZERO_USAGE : guessTask(this.needs, this.job, target);
  }

  protected resultOf({ attempt, called }: Opened<A>): TaskResponse<A> {
    if (called.stream === undefined) attempt.slots?.end();
    return { ...this.watched(attempt, called), ...this.noteSuccess(attempt, { status: 200 }) };
  }

  /** A stream has its place until it ends; one that breaks counts against its target. */
  private watched(attempt: Attempt<undefined>, called: CalledTask<A>): CalledTask<A> {
    const { stream } = called;
    if (stream === undefined) return called;
    const next = async () => {
      try {
        return await stream.next();
      } catch (error) {
        if (error instanceof GatewayError) this.tellFailure(attempt, error, attempt.startedMs);
        throw error;
      }
    };
    const close = () => {
      stream.close();
      attempt.slots?.end();
    };
    return { ...called, stream: { ...stream, next, close } };
  }

  private async call(attempt: Attempt<undefined>, { timeoutMs }: UpstreamStep): Promise<CalledTask<A>> {
    const { needs, job } = this;
    const { task, request, signal, dropParams, room } = job;
    const { target } = attempt;
    if (isBuiltIn(target) && task.answerHere !== undefined) {
      return { whole: await task.answerHere(needs.builtInEmbedder, request, { timeoutMs, signal }), dropped: [] };
    }
    const { provider, connection, keys, fetch = needs.fetch } = stillConnected(attempt);
    const part = task.partOf(provider);
    if (part === undefined) throw notConfigured(target);
    const { maxResponseBytes: maxAnswerBytes, streamIdleTimeoutMs: idleTimeoutMs } = needs.config;
    return callTask({
      ...{ provider, part, request, keys, fetch, signal, room, slots: attempt.slots },
      context: { connection, model: target.model, priced: target.priced, dropParams },
      ...{ timeoutMs, connectTimeoutMs: connectTimeoutMs(target.timeouts, needs.config), idleTimeoutMs },
      maxAnswerBytes,
      trace: job.trace?.headersFrom(attempt.number),
      onSend: () => {
        attempt.isSent = true;
      },
    });
  }
}
