import type { ChatResponse } from '@llm0/core/chat/response';
import { type AnswerRefused, blockedBy } from '@llm0/core/guardrails/refusals';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { pricedAnswer } from '@llm0/core/pricing/priced-answer';
import { askUpstream, type Completion, type ProduceNeeds } from '../chat/produce-answer';
import type { Admission } from '../exchange/admit';
import type { Exchange } from '../exchange/open-exchange';
import { wholeUsage } from '../ledger/guess-usage';
import { withRefusal } from './refused-answer';

export type AskNeeds = ProduceNeeds;

/** Of the answer that goes on, with what all others cost. */
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
  readonly exchange: Exchange;
  readonly admission: Admission;
}

/** An answer, or the one that was asked for in its place. */
export class AskedAgain {
  current: Completion;
  private readonly refused: Completion[] = [];
  private wastedNanoUsd = 0;
  private leavePending: (() => void) | undefined;

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
        const { refused, current } = asked;
        return refused.length === 0 ? current.attempts : [...refused, current].flatMap(({ attempts }) => attempts);
      },
      get failoverCount() {
        return [...asked.refused, asked.current].reduce((sum, { failoverCount }) => sum + failoverCount, 0);
      },
      get wastedNanoUsd() {
        return asked.wastedNanoUsd + asked.current.wastedNanoUsd;
      },
      get wasteEstimated() {
        return [...asked.refused, asked.current].some(({ wasteEstimated }) => wasteEstimated === true);
      },
      pays: () => asked.current.pays(),
      received: () => asked.current.received(),
      leave: () => {
        asked.leavePending?.();
        asked.current.leave();
      },
    };
  }

  /**
   * Asks once more, with what was wrong. Throws `guardrail_blocked` where no more may be asked: the rule's number is reached, the
   * cap is absolute, or the answer came from a cache.
   */
  async ask(refusal: AnswerRefused, response: ChatResponse): Promise<void> {
    const { exchange, admission } = this.input;
    const { current, refused } = this;
    const isOver = refused.length >= refusal.rule.maxRetries || Number.isFinite(admission.plan.maxAttempts);
    if (isOver || current.cache !== 'miss' || admission.decision.type === 'replayed') {
      throw blockedBy(refusal.rule, 'output');
    }
    const wastedNanoUsd = current.pays() ? this.costOf(current, response) + current.wastedNanoUsd : 0;
    const asked = admission.toSend ?? admission.plan.request;
    const pending = askUpstream(this.services, exchange, {
      ...admission,
      toSend: withRefusal(asked, refusal, response),
    });
    this.leavePending = () => pending.leave();
    const next = await pending.answer;
    current.leave();
    this.leavePending = undefined;
    this.wastedNanoUsd += wastedNanoUsd;
    refused.push(current);
    this.current = next;
  }

  private costOf({ target, answeredBy, received }: Completion, { usage }: ChatResponse): number {
    const { prices, request } = this.input.admission.plan;
    const priced = pricedAnswer(prices, target, answeredBy);
    return priced === undefined ? 0 : computeCost(wholeUsage(request, received(), usage).usage, priced).costNanoUsd;
  }
}
