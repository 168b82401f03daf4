import type { AnswerTally, EventBatch } from '../chat/event';
import { addToTally, emptyTally } from '../chat/tally';
import { GatewayError } from '../errors/gateway-error';
import type { OpenFlights, UpstreamCallUnderWay, UpstreamResponse, UpstreamSpend } from './upstream-response';

const BYTES_PER_EVENT = 64;
const ignore = (): void => {};
const UNKNOWN = new Error('unknown failure');
const COUNTED_BYTES = 64 * 1024;
/** A reader further behind the fastest one, beyond the shared buffer, loses its place. */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024;

/**
 * One upstream answer with all readers. While joining is possible, it keeps all batches; then only unread ones, and
 * cost data of the rest. The fastest reader sets the pace; the last one to leave cancels upstream.
 */
export class Flight<R extends UpstreamResponse = UpstreamResponse> {
  /** Batches from number `gone` on. */
  private batches: EventBatch[] = [];
  private gone = 0;
  /** Sum of those before. */
  private tally: AnswerTally | undefined;
  private keptBytes = 0;
  /** Size of the buffered batches, if several readers may need them. */
  private heldBytes = 0;
  /** Bytes of these that took room. */
  private countedBytes = 0;
  /** Bytes up to which others may join; 0 = never. */
  private readonly maxKeptBytes: number;
  private readonly subscribers = new Set<Subscriber<R>>();
  readonly answer: Promise<R>;
  private iterator: AsyncIterator<EventBatch> | undefined;
  private onBroken: UpstreamResponse['onBroken'];
  private pulling: Promise<void> | undefined;
  private done = false;
  private failure: unknown;
  /** Payer of the cost, fixed at the end of the answer. */
  private payer: Subscriber<R> | undefined;

  constructor(
    private readonly call: UpstreamCallUnderWay<R>,
    /** Absent if nobody may join. */
    private readonly key: string | undefined,
    private readonly open: OpenFlights,
  ) {
    this.maxKeptBytes = key === undefined ? 0 : open.maxKeptBytes;
    this.answer = this.begin();
    this.answer.catch(ignore);
  }

  private async begin(): Promise<R> {
    try {
      const answer = await this.call.response;
      this.onBroken = answer.onBroken;
      const { batches } = answer;
      if ('next' in batches) {
        this.iterator = batches;
        if (this.done) this.cancelUpstream();
      } else if (!this.done) {
        // Nothing is added to a complete answer.
        this.batches = batches as EventBatch[];
        this.end(undefined);
      }
      return answer;
    } catch (error) {
      this.end(error ?? UNKNOWN);
      throw error;
    }
  }

  /** Undefined when the flight is over and can't be joined. */
  subscribe(): Subscriber<R> | undefined {
    if (this.done || this.call.abort.signal.aborted || this.gone > 0) return undefined;
    const subscriber = new Subscriber(this, this.subscribers.size > 0);
    this.subscribers.add(subscriber);
    return subscriber;
  }

  /** The batch at `index`, or null at the end; undefined until `more`. */
  read(index: number): EventBatch | null | undefined {
    return this.batches[index - this.gone] ?? (this.done && this.failure === undefined ? null : undefined);
  }

  /** Resolves when there may be another batch; throws the upstream's failure. */
  more(): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    this.pulling ??= this.pull();
    return this.pulling;
  }

  private async pull(): Promise<void> {
    try {
      if (this.iterator === undefined) await this.answer;
      const next = await this.iterator?.next();
      // Everything arrived at once.
      if (next === undefined) return;
      if (next.done !== true) this.keep(next.value);
      if (next.done === true || next.value.isLast === true) this.end(undefined);
    } catch (error) {
      if (!this.call.abort.signal.aborted) this.onBroken?.(error);
      this.end(error ?? UNKNOWN);
    } finally {
      this.pulling = undefined;
    }
  }

  private keep(batch: EventBatch): void {
    this.batches.push(batch);
    if (this.maxKeptBytes === 0) return;
    const size = sizeOf(batch);
    this.heldBytes += size;
    if (this.keptBytes > this.maxKeptBytes) return;
    this.keptBytes += size;
    const isCounted = this.keptBytes - this.countedBytes < COUNTED_BYTES;
    if (this.keptBytes <= this.maxKeptBytes && (isCounted || this.takeRoom())) return;
    this.keptBytes = Number.POSITIVE_INFINITY;
    if (this.key !== undefined) this.open.close(this.key, this);
  }

  /** Batches for late followers take room, too. */
  private takeRoom(): boolean {
    const more = this.keptBytes - this.countedBytes;
    this.countedBytes = this.keptBytes;
    return this.call.held?.tryTake(more) !== false;
  }

  /** Frees batches that every reader has read, once nobody can join. */
  release(): void {
    const mayJoin = this.maxKeptBytes > 0 && this.keptBytes <= this.maxKeptBytes;
    if (mayJoin || this.done) return;
    this.letGo();
    while (this.heldBytes > this.maxKeptBytes + MAX_BEHIND_BYTES && this.leaveBehind()) this.letGo();
  }

  private letGo(): void {
    const first = this.slowestIndex();
    this.tally ??= emptyTally();
    for (const batch of this.batches.splice(0, first - this.gone)) {
      addToTally(this.tally, batch);
      this.gone += 1;
      if (this.maxKeptBytes > 0) this.heldBytes -= sizeOf(batch);
    }
  }

  private slowestIndex(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { index } of this.subscribers) first = Math.min(first, index);
    return first;
  }

  /** The slowest readers lose their place, where others are faster. */
  private leaveBehind(): boolean {
    const first = this.slowestIndex();
    const slowest = [...this.subscribers].filter(({ index }) => index === first);
    if (slowest.length === this.subscribers.size) return false;
    for (const subscriber of slowest) {
      this.subscribers.delete(subscriber);
      subscriber.isLeftBehind = true;
    }
    return true;
  }

  /** All events so far; a sum for the dropped beginning. */
  received(): readonly EventBatch[] {
    return this.gone === 0 ? this.batches : [{ events: [], gone: this.tally }, ...this.batches];
  }

  private end(failure: unknown): void {
    if (this.done) return;
    this.failure = failure;
    this.done = true;
    this.payer = this.subscribers.values().next().value;
    this.call.held?.end();
    this.call.end?.();
    if (this.key !== undefined) this.open.close(this.key, this);
  }

  /** True when this subscriber has to settle the cost of the answer. */
  pays(subscriber: Subscriber<R>): boolean {
    if (this.payer !== undefined) return this.payer === subscriber;
    return this.subscribers.size === 0 || (this.subscribers.size === 1 && this.subscribers.has(subscriber));
  }

  /** Cost of the call so far. */
  spent(): UpstreamSpend {
    return this.call.spent(this.received());
  }

  /** A reader goes. Before the end, the last one out cancels the upstream. */
  leave(subscriber: Subscriber<R>): void {
    const pays = !this.done && this.pays(subscriber);
    this.subscribers.delete(subscriber);
    if (this.done || this.subscribers.size > 0) return;
    this.end(undefined);
    if (pays) this.payer = subscriber;
    this.call.abort.abort();
    this.cancelUpstream();
  }

  private cancelUpstream(): void {
    this.iterator?.return?.()?.catch(() => {});
  }
}

/** One request's place on a flight. */
export class Subscriber<R extends UpstreamResponse = UpstreamResponse> {
  /** Index of the next batch. */
  index = 0;
  /** True if it read too slowly. */
  isLeftBehind = false;

  constructor(
    readonly flight: Flight<R>,
    /** True for a reader who joined the call. */
    readonly isFollower: boolean,
  ) {}

  /** Next batch or null at the end, synchronous if available; throws the upstream's failure. */
  next(): EventBatch | null | Promise<EventBatch | null> {
    const batch = this.take();
    return batch === undefined ? this.nextLater() : batch;
  }

  private async nextLater(): Promise<EventBatch | null> {
    for (;;) {
      if (this.isLeftBehind) throw tooSlow();
      await this.flight.more();
      const batch = this.take();
      if (batch !== undefined) return batch;
    }
  }

  private take(): EventBatch | null | undefined {
    const batch = this.isLeftBehind ? undefined : this.flight.read(this.index);
    if (batch === null || batch === undefined) return batch;
    this.index += 1;
    this.flight.release();
    return batch;
  }

  /** Resolves at the end of the answer; throws the upstream's failure. Unread batches stay readable. */
  async awaitEnd(): Promise<void> {
    for (let { index } = this; ; ) {
      const batch = this.flight.read(index);
      if (batch === null) return;
      if (batch === undefined) await this.flight.more();
      else index += 1;
    }
  }

  /** Everything the upstream has sent so far. */
  received(): readonly EventBatch[] {
    return this.flight.received();
  }

  pays(): boolean {
    return this.flight.pays(this);
  }

  /** Cost of the call so far; undefined if another request pays. */
  spent(): UpstreamSpend | undefined {
    return this.pays() ? this.flight.spent() : undefined;
  }

  /** All readers get the failure; only the payer gets its cost. */
  shareOf(error: unknown): unknown {
    if (!(error instanceof GatewayError) || error.attempts === undefined || this.pays()) return error;
    const attempts = error.attempts.map(({ costNanoUsd, ...attempt }) => attempt);
    return new GatewayError(error.kind, error.message, { ...error, attempts, cause: error.cause });
  }

  leave(): void {
    this.flight.leave(this);
  }
}

function tooSlow(): GatewayError {
  const message = 'This answer was read more slowly than the gateway could keep it. Retry, and read it faster.';
  return new GatewayError('overloaded', message, { retryAfterMs: 1000 });
}

/** Approximate size in memory; a plain answer counts as zero, because it arrives at once. */
function sizeOf(batch: EventBatch): number {
  const { wire } = batch;
  if (wire !== undefined) return wire.kind === 'bytes' ? wire.bytes.byteLength : 1;
  let size = 1;
  for (const event of batch.events) size += BYTES_PER_EVENT + ('text' in event ? event.text.length : 0);
  return size;
}
