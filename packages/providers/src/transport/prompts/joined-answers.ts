import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import { addUsage, type Usage } from '@llm0/core/chat/usage';
import type { ProviderAnswer, ProviderCall } from '../../provider-call';

/** One prompt's call. */
export interface PromptJob {
  readonly call: ProviderCall;
  /** Text to put before each answer if the vendor doesn't echo the prompt itself. */
  readonly echo: string | undefined;
}

export interface JoinOptions {
  readonly ask: (call: ProviderCall) => Promise<ProviderAnswer>;
  readonly stream: boolean;
  /** Choices of each prompt. */
  readonly n: number;
}

/** Calls under way at once. */
const AT_ONCE = 8;
const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * Joins the answers of several calls in the order of their prompts; usage is the sum. A plain answer is one batch at
 * the end. If a call fails, the others' usage comes first, for booking.
 */
export class JoinedAnswers implements AsyncIterableIterator<EventBatch> {
  private readonly opened: Promise<ProviderAnswer>[] = [];
  private readonly abort = new AbortController();
  private readonly usages: Usage[] = [];
  private readonly echoed = new Set<number>();
  private at = 0;
  private isTold = false;
  private ended = false;
  private failure: { readonly cause: unknown } | undefined;

  constructor(
    private readonly jobs: readonly PromptJob[],
    private readonly options: JoinOptions,
  ) {}

  /** Resolves when the first call's answer has begun. */
  async begin(): Promise<ProviderAnswer> {
    try {
      return await this.open(0);
    } catch (error) {
      this.end();
      throw error;
    }
  }

  async next(): Promise<IteratorResult<EventBatch, undefined>> {
    if (this.failure !== undefined) throw this.failure.cause;
    if (this.ended) return END;
    try {
      const events = this.options.stream ? await this.advance() : await this.gather();
      if (events !== undefined) return { done: false, value: { events } };
    } catch (error) {
      this.end();
      throw error;
    }
    this.end();
    return END;
  }

  return(): Promise<IteratorResult<EventBatch, undefined>> {
    this.end();
    return Promise.resolve(END);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private open(index: number): Promise<ProviderAnswer> {
    for (const { call } of this.jobs.slice(this.opened.length, index + AT_ONCE)) {
      const signal = AbortSignal.any([call.signal, this.abort.signal]);
      const answer = this.options.ask({ ...call, signal });
      answer.catch(() => {});
      this.opened.push(answer);
    }
    return this.opened[index] as Promise<ProviderAnswer>;
  }

  /** Next events of the current prompt; undefined at the end. */
  private async advance(): Promise<ChatEvent[] | undefined> {
    for (; this.at < this.jobs.length; this.at += 1) {
      const { events } = await this.open(this.at);
      const next = await events.next();
      if (next.done !== true) return this.translate(next.value.events);
    }
    return this.tellUsage();
  }

  private async gather(): Promise<ChatEvent[] | undefined> {
    const all: ChatEvent[] = [];
    try {
      for (let events = await this.advance(); events !== undefined; events = await this.advance()) all.push(...events);
    } catch (cause) {
      if (this.usages.length === 0) throw cause;
      this.end();
      this.failure = { cause };
      return [this.sum()];
    }
    return all.length === 0 ? undefined : all;
  }

  /** Numbers choices across prompts; the first start event covers all. */
  private translate(events: readonly ChatEvent[]): ChatEvent[] {
    const { at } = this;
    const echo = this.jobs[at]?.echo;
    const translated: ChatEvent[] = [];
    for (const event of events) {
      if (event.type === 'start') {
        if (at === 0) translated.push(event);
      } else if (event.type === 'usage') {
        this.usages[at] = event.usage;
      } else if (event.choice === undefined) translated.push(event);
      else {
        const choice = at * this.options.n + event.choice;
        if (echo !== undefined && !this.echoed.has(choice)) translated.push({ type: 'text', choice, text: echo });
        this.echoed.add(choice);
        translated.push({ ...event, choice });
      }
    }
    return translated;
  }

  /** Once at the end, if every call reported usage: otherwise all of it is estimated. */
  private tellUsage(): ChatEvent[] | undefined {
    const isKnown = this.jobs.every((_, at) => this.usages[at] !== undefined);
    if (!isKnown || this.isTold) return undefined;
    this.isTold = true;
    return [this.sum()];
  }

  private sum(): ChatEvent {
    return { type: 'usage', usage: this.usages.filter((usage) => usage !== undefined).reduce(addUsage) };
  }

  private end(): void {
    if (this.ended) return;
    this.ended = true;
    this.abort.abort();
    for (const answer of this.opened) {
      void answer.then(
        ({ events }) => events.return?.(),
        () => {},
      );
    }
  }
}
