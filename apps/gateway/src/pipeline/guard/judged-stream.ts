import { nextTurn } from '@llm0/core/async/time-slices';
import { ResponseCollector } from '@llm0/core/chat/collect';
import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import { joinTexts } from '@llm0/core/chat/join-texts';
import { splitBatch } from '@llm0/core/chat/replay';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { ChatResponse } from '@llm0/core/chat/response';
import { AnswerGuard } from '@llm0/core/guardrails/chat/answer-guard';
import type { Dialect } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import type { Completion } from '../upstream/completion';
import type { GuardedRequest } from './guard-input';
import { PlainWatch } from './plain-watch';

type Needs = Pick<Services, 'config'>;

export interface AnswerToGuard {
  readonly guarded: Pick<GuardedRequest<ChatRequest>, 'guard'>;
  readonly answer: Completion;
  readonly ctx: RequestContext;
  /** Dialect of the caller. */
  readonly dialect: Pick<Dialect, 'wireFormat' | 'ownParts'>;
  readonly admission: Admission;
}

/** The answer as its vendor gave it, where a cache may want it. */
class Original {
  private readonly collector: ResponseCollector | undefined;

  constructor({ config }: Needs, { admission }: AnswerToGuard) {
    const { cacheKey } = admission.plan;
    this.collector = cacheKey === undefined ? undefined : new ResponseCollector(config.cacheMaxBodyBytes);
  }

  add(events: readonly ChatEvent[]): void {
    this.collector?.add(events);
  }

  get(): ChatResponse | undefined {
    return this.collector === undefined || this.collector.isCut ? undefined : this.collector.response();
  }
}

/** A judged stream, which is stored as the vendor sent it. */
abstract class GuardedStream {
  protected readonly judge: AnswerGuard;
  protected readonly kept: Original;
  protected isDone = false;

  constructor(
    services: Needs,
    protected readonly input: AnswerToGuard,
  ) {
    this.judge = new AnswerGuard(input.guarded.guard);
    this.kept = new Original(services, input);
  }

  original(): ChatResponse | undefined {
    return this.kept.get();
  }
}

/** A stream that passes unchanged while its findings are recorded. */
export class WatchedStream extends GuardedStream {
  async next(): Promise<EventBatch | null> {
    if (this.isDone) return null;
    const batch = await this.input.answer.next();
    this.isDone = batch === null || batch.isLast === true;
    if (batch !== null) await this.look(batch);
    if (this.isDone) await this.judge.end();
    return batch;
  }

  private async look(batch: EventBatch): Promise<void> {
    this.kept.add(batch.events);
    if (batch.isLarge !== true) return void (await this.judge.push(joinTexts(batch.events)));
    for (const { events } of splitBatch(batch)) {
      await nextTurn();
      await this.judge.push(events);
    }
  }
}

/**
 * A stream of decided text. If the vendor's own blocks exceed our events, the rest waits for the end and is judged as
 * one.
 */
export class JudgedStream extends GuardedStream {
  private readonly plain: PlainWatch;
  private readonly rest: WholeRest = new WholeRest();
  private waiting: EventBatch[] = [];

  constructor(services: Needs, input: AnswerToGuard) {
    super(services, input);
    this.plain = new PlainWatch(input.dialect);
  }

  async next(): Promise<EventBatch | null> {
    for (;;) {
      const batch = this.waiting.length > 0 ? await this.readWaiting() : this.begin(await this.input.answer.next());
      if (batch === null && this.isDone) return null;
      this.isDone = batch === null;
      const judged = batch === null ? this.end() : this.push(batch);
      // Most of an answer is judged at once.
      const events = judged instanceof Promise ? await judged : judged;
      if (events.length > 0) return { events };
    }
  }

  private push(batch: EventBatch): readonly ChatEvent[] | Promise<readonly ChatEvent[]> {
    // Judges the texts of one batch together and forwards them as one.
    const given = joinTexts(batch.events);
    this.kept.add(given);
    const own = given.findLast((event) => this.isOwn(event));
    if (own !== undefined || !this.plain.isPlain(batch.wire)) this.rest.begin();
    if (own !== undefined) this.rest.whole = own;
    const judged = this.judge.push(own === undefined ? given : given.filter((event) => !this.isOwn(event)));
    return judged instanceof Promise ? judged.then((events) => this.passOn(events)) : this.passOn(judged);
  }

  private passOn(events: readonly ChatEvent[]): readonly ChatEvent[] {
    return this.rest.isWaiting ? this.rest.hold(events) : this.rest.pass(events);
  }

  private async end(): Promise<readonly ChatEvent[]> {
    const { rest } = this;
    const whole = rest.whole === undefined ? [] : await this.judge.push([rest.whole]);
    const late = await this.judge.end();
    return rest.isWaiting ? rest.release(late, whole) : late;
  }

  private isOwn(event: ChatEvent): boolean {
    return event.type === 'raw-message' && event.format === this.input.dialect.wireFormat;
  }

  /** A large one in many small ones, so that others get their turn. */
  private begin(batch: EventBatch | null): EventBatch | null {
    if (batch?.isLarge !== true) return batch;
    // The first piece keeps the bytes of the whole batch.
    const [first, ...rest] = splitBatch(batch);
    this.waiting = rest;
    return first === undefined ? batch : { ...first, wire: batch.wire };
  }

  private async readWaiting(): Promise<EventBatch | null> {
    await nextTurn();
    return this.waiting.shift() ?? null;
  }
}

/** Text that the provider's own blocks repeat. */
const SAID: ReadonlySet<ChatEvent['type']> = new Set<ChatEvent['type']>([
  ...(['text', 'refusal', 'reasoning', 'reasoning-detail', 'native-item', 'tool-call', 'tool-arguments'] as const),
]);

/** Text that waits for the end of the answer. */
class WholeRest {
  /** All of the answer in its vendor's own blocks. */
  whole: ChatEvent | undefined;
  isWaiting = false;
  private readonly held: ChatEvent[] = [];
  private readonly begunTools = new Set<string>();

  begin(): void {
    this.isWaiting = true;
  }

  pass(events: readonly ChatEvent[]): readonly ChatEvent[] {
    for (const event of events) {
      if (event.type === 'tool-call') this.begunTools.add(`${event.choice} ${event.toolIndex}`);
    }
    return events;
  }

  hold(events: readonly ChatEvent[]): readonly ChatEvent[] {
    this.held.push(...events.filter(({ type }) => type !== 'start'));
    return events.filter(({ type }) => type === 'start');
  }

  /** Completes the arguments of calls already sent; the blocks contain the rest. */
  release(late: readonly ChatEvent[], whole: readonly ChatEvent[]): readonly ChatEvent[] {
    const all = [...this.held, ...late];
    if (whole.length === 0) return all;
    const begun = all.filter((event) => this.goesOn(event));
    const others = all.filter(({ type }) => !SAID.has(type));
    return [...begun, ...whole, ...others];
  }

  private goesOn(event: ChatEvent): boolean {
    return event.type === 'tool-arguments' && this.begunTools.has(`${event.choice} ${event.toolIndex}`);
  }
}
