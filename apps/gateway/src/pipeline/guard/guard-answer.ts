import type { Held } from '@llm0/core/async/room';
import { ResponseCollector } from '@llm0/core/chat/collect';
import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import { LARGE_JSON_LENGTH } from '@llm0/core/chat/json-in-slices';
import { replayResponse } from '@llm0/core/chat/replay';
import type { ChatResponse } from '@llm0/core/chat/response';
import { guardResponse, LOGPROBS } from '@llm0/core/guardrails/chat/guard-response';
import { GuardedTexts } from '@llm0/core/guardrails/chat/guard-texts';
import { AnswerRefused } from '@llm0/core/guardrails/refusals';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { AskNeeds } from '../upstream/call-upstream';
import { type Completion, changed } from '../upstream/completion';
import { AskedAgain, type Effort } from './asked-again';
import { withGuardedFailure } from './guard-failure';
import { type AnswerToGuard, JudgedStream, WatchedStream } from './judged-stream';

/** `guarded`: undefined where nothing is asked. */
type Given = Omit<AnswerToGuard, 'guarded'> & { readonly guarded: AnswerToGuard['guarded'] | undefined };

/**
 * Judges an answer from any source: upstream, a cache, an identical call or a replay. A stream is released as soon as
 * no rule can match it, unless a rule needs the whole.
 */
export function guardAnswer(services: AskNeeds, given: Given): Completion {
  const { guarded, answer, admission } = given;
  if (guarded === undefined) return answer;
  const input = { ...given, guarded };
  const { guard } = guarded;
  const { guardrails } = guard;
  const { request } = admission.plan;
  if (request.countOnly === true || (!guardrails.asksOutput && !guard.hasPseudonyms)) return answer;
  const isStreamed = request.stream && !guardrails.holdsAnswers;
  const isWatched = isOnlyWatched(guard);
  const streamOf = () => (isWatched ? new WatchedStream(services, input) : new JudgedStream(services, input));
  const source = isStreamed ? streamOf() : new JudgedAnswer(services, input);
  const asksLogprobs = request.logprobs === true || request.prompt?.logprobs !== undefined;
  const isCut =
    asksLogprobs && !isWatched && guardrails.acts && guardrails.asksOutput && !answer.dropped.includes(LOGPROBS);
  const judged = changed(answer, {
    whole: undefined,
    atOnce: undefined,
    // The rules of that time judged the stored bytes.
    sent: answer.sent && { requestId: answer.sent.requestId },
    dropped: isCut ? [...answer.dropped, LOGPROBS] : answer.dropped,
    original: () => source.original(),
    next: () => withGuardedFailure(guard, () => source.next()),
  });
  if (!(source instanceof JudgedAnswer)) return judged;
  // Getters, because a repeated attempt changes their values.
  return Object.defineProperties(judged, Object.getOwnPropertyDescriptors(source.effort));
}

/** True if no finding can change the answer. */
const isOnlyWatched = ({ guardrails, hasPseudonyms }: RequestGuard): boolean =>
  !guardrails.actsOnOutput && !hasPseudonyms;

/** An answer that is released after judgement; a rule may request another one instead. */
class JudgedAnswer {
  /** Effort of the final answer, with the cost of all attempts. */
  readonly effort: Effort;
  private readonly guard: RequestGuard;
  private readonly again: AskedAgain;
  private whole: ChatResponse | undefined;
  private readonly held: Held;
  private isDone = false;

  constructor(services: AskNeeds, input: AnswerToGuard) {
    this.held = input.ctx.held;
    this.guard = input.guarded.guard;
    this.again = new AskedAgain(services, input);
    this.effort = this.again.effort();
  }

  original(): ChatResponse | undefined {
    return this.whole;
  }

  async next(): Promise<EventBatch | null> {
    if (this.isDone) return null;
    this.isDone = true;
    for (;;) {
      const collected = await collect(this.again.current, this.held);
      const { response, only, isLarge } = collected;
      this.whole = response;
      const texts = new GuardedTexts(this.guard, 'output');
      const judged = await guardResponse(this.guard, response, texts).catch(asRefused);
      if (judged instanceof AnswerRefused) {
        await this.again.ask(judged, response);
        continue;
      }
      const isWatched = isOnlyWatched(this.guard);
      const isSame = isWatched || judged === response;
      if (isSame && only !== undefined && ((await saysNoMore(only, texts)) || isWatched)) return only;
      const batch = replayResponse(isWatched ? response : judged);
      return isLarge ? { ...batch, isLarge } : batch;
    }
  }
}

/** Judges the vendor's extra fields, which no event holds: the body passes only if they are clean. */
async function saysNoMore({ wire }: EventBatch, texts: GuardedTexts): Promise<boolean> {
  if (wire === undefined) return true;
  return wire.kind === 'body' && (await texts.isClean(wire.body));
}

function asRefused(cause: unknown): AnswerRefused {
  if (cause instanceof AnswerRefused) return cause;
  throw cause;
}

const lengthOf = (events: readonly ChatEvent[]): number =>
  events.reduce((sum, event) => sum + ('text' in event ? event.text.length : 0), 0);

/** `held`: memory for the collected stream; a plain answer has its own. */
async function collect(answer: Completion, held: Held) {
  if (answer.whole !== undefined) return { response: answer.whole, isLarge: answer.isLarge === true };
  const collector = new ResponseCollector();
  let only: EventBatch | undefined;
  let count = 0;
  let isLarge = false;
  for (let batch = await answer.next(); batch !== null; batch = await answer.next()) {
    collector.add(batch.events);
    if (batch.wire?.kind !== 'body') await held.takeAnswer(lengthOf(batch.events));
    isLarge ||= batch.isLarge === true;
    only = batch;
    count++;
  }
  isLarge ||= collector.characters > LARGE_JSON_LENGTH;
  return { response: collector.response(), only: count === 1 ? only : undefined, isLarge };
}
