import type { EventBatch } from '@llm0/core/chat/event';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { UpstreamCalling, UpstreamResponse, UpstreamSpend } from './upstream-response';

/** A call to an upstream, and what ends it once nobody waits for its answer any more. */
export interface UpstreamCallUnderWay extends UpstreamCalling {
  readonly abort: AbortController;
}

/**
 * One upstream answer and everybody who reads it. Batches are kept until the end: late followers read from the start,
 * and the payer's settlement collects them. The fastest reader sets the pace; the last one to leave cancels upstream.
 */
export class Flight {
  readonly batches: EventBatch[] = [];
  private readonly subscribers = new Set<Subscriber>();
  private readonly abort: AbortController;
  private readonly answer: Promise<UpstreamResponse>;
  private readonly call: UpstreamCallUnderWay;
  private iterator: AsyncIterator<EventBatch> | undefined;
  private onBroken: UpstreamResponse['onBroken'];
  private pulling: Promise<void> | undefined;
  private done = false;
  private failure: unknown;
  /** Who settles the cost: fixed once the answer has ended. */
  private payer: Subscriber | undefined;

  constructor(
    call: UpstreamCallUnderWay,
    private readonly onEnd: () => void,
  ) {
    this.call = call;
    this.abort = call.abort;
    this.answer = call.response.then(
      (answer) => {
        this.iterator = answer.batches;
        this.onBroken = answer.onBroken;
        if (this.abort.signal.aborted) this.cancelUpstream();
        return answer;
      },
      (error: unknown) => {
        this.end(error ?? new Error('unknown failure'));
        throw error;
      },
    );
    this.answer.catch(() => {});
  }

  /** Undefined when the flight is over and can't be joined. */
  subscribe(): Subscriber | undefined {
    if (this.done || this.abort.signal.aborted) return undefined;
    const subscriber = new Subscriber(this, this.subscribers.size > 0);
    this.subscribers.add(subscriber);
    return subscriber;
  }

  open(): Promise<UpstreamResponse> {
    return this.answer;
  }

  /** The batch at `index`, or null at the end. Throws the upstream's failure. */
  async read(index: number): Promise<EventBatch | null> {
    for (;;) {
      const batch = this.batches[index];
      if (batch !== undefined) return batch;
      if (this.failure !== undefined) throw this.failure;
      if (this.done) return null;
      this.pulling ??= this.pull();
      await this.pulling;
    }
  }

  private async pull(): Promise<void> {
    try {
      if (this.iterator === undefined) await this.answer;
      const next = await (this.iterator as AsyncIterator<EventBatch>).next();
      if (next.done === true) this.end(undefined);
      else this.batches.push(next.value);
    } catch (error) {
      if (!this.abort.signal.aborted) this.onBroken?.(error);
      this.end(error ?? new Error('unknown failure'));
    } finally {
      this.pulling = undefined;
    }
  }

  private end(failure: unknown): void {
    if (this.done) return;
    this.failure = failure;
    this.done = true;
    this.payer = this.subscribers.values().next().value;
    this.onEnd();
  }

  /** True when this subscriber has to settle the cost of the answer. */
  pays(subscriber: Subscriber): boolean {
    if (this.payer !== undefined) return this.payer === subscriber;
    return this.subscribers.size === 0 || (this.subscribers.size === 1 && this.subscribers.has(subscriber));
  }

  /** What the call has cost by now. */
  spent(): UpstreamSpend {
    return this.call.spent(this.batches);
  }

  /** A reader goes. Before the end, the last one out cancels the upstream. */
  leave(subscriber: Subscriber): void {
    const pays = this.pays(subscriber);
    this.subscribers.delete(subscriber);
    if (this.done || this.subscribers.size > 0) return;
    this.done = true;
    if (pays) this.payer = subscriber;
    this.onEnd();
    this.abort.abort();
    this.cancelUpstream();
  }

  private cancelUpstream(): void {
    this.iterator?.return?.()?.catch(() => {});
  }
}

/** One request's place on a flight. */
export class Subscriber {
  private index = 0;

  constructor(
    private readonly flight: Flight,
    /** True for those who joined somebody else's call. */
    readonly isFollower: boolean,
  ) {}

  open(): Promise<UpstreamResponse> {
    return this.flight.open();
  }

  /** Next batch or null at the end; throws the upstream's failure. */
  async next(): Promise<EventBatch | null> {
    const batch = await this.flight.read(this.index);
    if (batch !== null) this.index += 1;
    return batch;
  }

  /** Until the answer is whole; throws the upstream's failure. What was not read yet is still to be read. */
  async awaitEnd(): Promise<void> {
    for (let index = this.index; (await this.flight.read(index)) !== null; ) index += 1;
  }

  /** Everything the upstream has sent so far. */
  received(): readonly EventBatch[] {
    return this.flight.batches;
  }

  pays(): boolean {
    return this.flight.pays(this);
  }

  /** What the call has cost by now; undefined where somebody else pays. */
  spent(): UpstreamSpend | undefined {
    return this.pays() ? this.flight.spent() : undefined;
  }

  /** A failure goes to all readers; what its attempts cost, only to the one who pays. */
  shareOf(error: unknown): unknown {
    if (!(error instanceof GatewayError) || error.attempts === undefined || this.pays()) return error;
    const attempts = error.attempts.map(({ costNanoUsd, ...attempt }) => attempt);
    return new GatewayError(error.kind, error.message, { ...error, attempts, cause: error.cause });
  }

  leave(): void {
    this.flight.leave(this);
  }
}

/** Flights under way by cache key: identical questions asked at once reach the upstream once. */
export class FlightTable {
  private readonly open = new Map<string, Flight>();

  /** A place on the flight of this key; undefined where there is none to join. */
  join(key: string): Subscriber | undefined {
    return this.open.get(key)?.subscribe();
  }

  /** A flight that others may join by its key, from now on; without a key, nobody can. */
  start(key: string | undefined, call: UpstreamCallUnderWay): Subscriber {
    const flight: Flight = new Flight(call, () => {
      if (key !== undefined && this.open.get(key) === flight) this.open.delete(key);
    });
    if (key !== undefined) this.open.set(key, flight);
    return flight.subscribe() as Subscriber;
  }

  get size(): number {
    return this.open.size;
  }
}
