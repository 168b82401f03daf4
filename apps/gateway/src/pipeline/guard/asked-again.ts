import type { ChatResponse } from '@llm0/core/chat/response';
import { clientClosed } from '@llm0/core/errors/gateway-error';
import { type AnswerRefused, blockedBy } from '@llm0/core/guardrails/refusals';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { wholeUsage } from '@llm0/core/pricing/guess-usage';
import { pricedAnswer } from '@llm0/core/pricing/price-book';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import { type AskNeeds, askUpstream } from '../upstream/call-upstream';
import type { Completion, PendingCompletion } from '../upstream/completion';
import { withRefusal } from './refused-answer';

/** Effort of the final answer, with the cost of all others. */
export type Effort = Pick<
  Completion,
  | 'target'
  | 'attempts'
  | 'failoverCount'
  | 'wastedNanoUsd'
  | 'wasteEstimated'
  | 'answeredBy'
  | 'pays'
  | 'received'
  | 'leave'
>;

export interface AskedFor {
  readonly answer: Completion;
  readonly ctx: RequestContext;
  readonly admission: Admission;
}

/** An answer, or the one that was asked for in its place. */
export class AskedAgain {
  current: Completion;
  private readonly refused: Completion[] = [];
  private wastedNanoUsd = 0;
  /** The running repeat; it may cost something and return nothing. */
  private pending: PendingCompletion | undefined;
  private hasLeft = false;

  constructor(
    private readonly services: AskNeeds,
    private readonly input: AskedFor,
  ) {
    this.current = input.answer;
  }

  /** Seen from outside, it is one answer. */
  effort(): Effort {
    const asked = this;
    return {
      get target() {
        return asked.current.target;
      },
      get answeredBy() {
        return asked.current.answeredBy;
      },
      get attempts() {
        const { refused, current, pending } = asked;
        if (refused.length === 0 && pending === undefined) return current.attempts;
        const own = [...refused, current].flatMap(({ attempts }) => attempts);
        return [...own, ...(pending?.spent()?.attempts ?? [])];
      },
      get failoverCount() {
        return [...asked.refused, asked.current].reduce((sum, { failoverCount }) => sum + failoverCount, 0);
      },
      get wastedNanoUsd() {
        return asked.wastedNanoUsd + asked.current.wastedNanoUsd + (asked.pending?.spent()?.costNanoUsd ?? 0);
      },
      get wasteEstimated() {
        const isGuessed = asked.pending?.spent()?.usage.estimated === true;
        return isGuessed || [...asked.refused, asked.current].some(({ wasteEstimated }) => wasteEstimated === true);
      },
      pays: () => asked.current.pays(),
      received: () => asked.current.received(),
      leave: () => {
        asked.hasLeft = true;
        asked.pending?.leave();
        asked.current.leave();
      },
    };
  }

  /**
   * Repeats the request with the reason. Throws `guardrail_blocked` at the rule's limit, under an absolute cap or for a
   * cached answer; `client_closed` if the caller left.
   */
  async ask(refusal: AnswerRefused, response: ChatResponse): Promise<void> {
    const { ctx, admission } = this.input;
    const { current, refused } = this;
    if (this.hasLeft) throw clientClosed();
    const isOver = refused.length >= refusal.rule.maxRetries || Number.isFinite(admission.plan.maxAttempts);
    // An answer that is there is no other one the next time.
    const isThere = admission.decision.type === 'replayed' || admission.decision.type === 'spent';
    if (isOver || current.cache !== 'miss' || isThere) {
      throw blockedBy(refusal.rule, 'output');
    }
    const wastedNanoUsd = current.pays() ? this.costOf(current, response) + current.wastedNanoUsd : 0;
    const asked = admission.toSend ?? admission.plan.request;
    this.pending = askUpstream(this.services, ctx, {
      ...admission,
      toSend: withRefusal(asked, refusal, response),
    });
    const next = await this.pending.answer;
    current.leave();
    this.pending = undefined;
    this.wastedNanoUsd += wastedNanoUsd;
    refused.push(current);
    this.current = next;
  }

  private costOf(answer: Completion, { usage }: ChatResponse): number {
    const { prices, request } = this.input.admission.plan;
    const priced = pricedAnswer(prices, answer.target, answer.answeredBy);
    if (priced === undefined) return 0;
    return computeCost(wholeUsage(request, answer.received(), usage).usage, priced).costNanoUsd;
  }
}
