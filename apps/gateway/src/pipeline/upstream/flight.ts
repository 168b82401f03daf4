import type { EventBatch } from '@llm0/core/chat/event';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import type { Target } from '@llm0/core/routing/target';

/** An upstream's answer from its first output on; `batches` begins with everything up to there. */
export interface UpstreamResponse {
  readonly target: Target;
  /** All attempts so far, the answering one last. */
  readonly attempts: readonly LogAttempt[];
  /** Nano-USD that failed and superseded attempts cost. */
  readonly wastedNanoUsd: number;
  /** Part of that is a guess. */
  readonly wasteEstimated?: boolean;
  readonly dropped: readonly string[];
  readonly failoverCount: number;
  /** Milliseconds spent waiting for upstreams until the first output. */
  readonly firstWaitMs: number;
  readonly batches: AsyncIterator<EventBatch>;
  /** Told when the answer breaks off after its first output. */
  readonly onBroken?: (error: unknown) => void;
}

/** Starts the upstream call; the signal aborts when nobody waits for the answer any more. */
export type StartCall = (signal: AbortSignal) => Promise<UpstreamResponse>;

/**
 * One upstream answer and everybody who reads it. Batches are kept until the end: late followers read from the start,
 * and the payer's settlement collects them. The fastest reader sets the pace; the last one to leave cancels upstream.
 */
export class Flight {
  readonly batches: EventBatch[] = [];
  private readonly subscribers = new Set<Subscriber>();
  private readonly abort = new AbortController();
  private readonly answer: Promise<UpstreamResponse>;
  private iterator: AsyncIterator<EventBatch> | undefined;
  private onBroken: UpstreamResponse['onBroken'];
  private pulling: Promise<void> | undefined;
  private done = false;
  private failure: unknown;
  /** Who settles the cost: fixed once the answer has ended. */
  private payer: Subscriber | undefined;

  constructor(
    start: StartCall,
    private readonly onEnd: () => void,
  ) {
    this.answer = start(this.abort.signal).then(
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

  /** Everything the upstream has sent so far. */
  received(): readonly EventBatch[] {
    return this.flight.batches;
  }

  pays(): boolean {
    return this.flight.pays(this);
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

  /** Joins the flight of this key, or starts one. */
  join(key: string, start: StartCall): Subscriber {
    const joined = this.open.get(key)?.subscribe();
    if (joined !== undefined) return joined;
    const flight: Flight = new Flight(start, () => {
      if (this.open.get(key) === flight) this.open.delete(key);
    });
    this.open.set(key, flight);
    return flight.subscribe() as Subscriber;
  }

  /** A flight nobody can join. */
  startAlone(start: StartCall): Subscriber {
    return new Flight(start, () => {}).subscribe() as Subscriber;
  }

  get size(): number {
    return this.open.size;
  }
}
