// No deadlock: one request with memory may always continue, so that memory comes back.
import { GatewayError } from '../errors/gateway-error';
import type { TakenSlots } from '../routing/places/slots';

/** Memory limits of all requests, and of one key; a single request may exceed them. */
const BOUNDS = {
  ...{ maxBytes: 160_000_000, maxBytesOfKey: 80_000_000, maxWaitMs: 10_000 },
  /** Answers that arrive faster than they leave: the runtime reads up to 3 MB of each ahead, unavoidably. */
  ...{ maxFloods: 64, maxFloodsOfKey: 16 },
};
/** Memory factor of an answer: bytes, joined bytes, text, parsed form and output. */
const ANSWER_FACTOR = 8;
const RETRY_MS = 1000;

export type RoomBounds = typeof BOUNDS;

function tooMuch(): GatewayError {
  const message = 'The gateway has no memory left for large requests and answers. Retry shortly.';
  return new GatewayError('overloaded', message, { param: 'body', retryAfterMs: RETRY_MS });
}

interface Waiting {
  readonly held: Held;
  readonly bytes: number;
  readonly resolve: () => void;
}

/** Memory for bodies of requests, and for answers that must be complete before release. */
export class Room {
  private bytes = 0;
  private readonly bytesByKey = new Map<string, number>();
  private floods = 0;
  private readonly floodsByKey = new Map<string | undefined, number>();
  /** Waiting for a key's own share doesn't block other keys. */
  private readonly queue: Waiting[] = [];
  /** May hold more than the bounds, so that it ends. */
  private overdrawn: Held | undefined;
  private readonly bounds: RoomBounds;

  constructor(bounds: Partial<RoomBounds> = {}) {
    this.bounds = { ...BOUNDS, ...bounds };
  }

  /** Undefined: at once. */
  take(held: Held, bytes: number): Promise<void> | undefined {
    if (this.tryTake(held, bytes)) return undefined;
    if (held.bytes > 0 && this.overdrawn === undefined) {
      this.overdrawn = held;
      this.add(held, bytes);
      return undefined;
    }
    return this.wait(held, bytes);
  }

  /** Throws `overloaded` where too many do so. */
  addFlood(key: string | undefined): void {
    const ofKey = this.floodsByKey.get(key) ?? 0;
    if (this.floods >= this.bounds.maxFloods || ofKey >= this.bounds.maxFloodsOfKey) throw tooMuch();
    this.floods += 1;
    this.floodsByKey.set(key, ofKey + 1);
  }

  endFlood(key: string | undefined): void {
    const left = (this.floodsByKey.get(key) ?? 0) - 1;
    this.floods -= 1;
    if (left > 0) this.floodsByKey.set(key, left);
    else this.floodsByKey.delete(key);
  }

  tryTake(held: Held, bytes: number): boolean {
    held.hasAsked = true;
    const mayGoOn = this.overdrawn === held || (this.hasRoom(held, bytes) && !this.isQueued());
    if (!mayGoOn) return false;
    this.add(held, bytes);
    return true;
  }

  add(held: Held, bytes: number): void {
    this.bytes += bytes;
    held.bytes += bytes;
    const { key } = held;
    if (key === undefined) return;
    const ofKey = this.ofKey(key) + bytes;
    if (ofKey > 0) this.bytesByKey.set(key, ofKey);
    else this.bytesByKey.delete(key);
  }

  giveBack(held: Held, bytes: number): void {
    this.add(held, -bytes);
    // Its memory may stay for long, so the next request may continue.
    if (this.overdrawn === held && this.bytes <= this.bounds.maxBytes && this.hasShare(held, 0))
      this.overdrawn = undefined;
    this.letIn();
  }

  /** Ends a request and its waits. */
  end(held: Held): void {
    if (this.overdrawn === held) this.overdrawn = undefined;
    for (let at = this.queue.length - 1; at >= 0; at--) {
      if (this.queue[at]?.held === held) this.queue.splice(at, 1)[0]?.resolve();
    }
    if (held.bytes > 0) this.add(held, -held.bytes);
    this.letIn();
  }

  letIn(): void {
    for (let at = 0; at < this.queue.length; ) {
      const { held, bytes } = this.queue[at] as Waiting;
      if (this.hasRoom(held, bytes)) this.grant(at);
      else if (this.hasShare(held, bytes)) break;
      else at += 1;
    }
    if (this.overdrawn !== undefined) return;
    const begun = this.queue.findIndex(({ held }) => held.bytes > 0);
    if (begun < 0) return;
    this.overdrawn = this.queue[begun]?.held;
    this.grant(begun);
  }

  private grant(at: number): void {
    for (const { held, bytes, resolve } of this.queue.splice(at, 1)) {
      this.add(held, bytes);
      resolve();
    }
  }

  private ofKey(key: string): number {
    return this.bytesByKey.get(key) ?? 0;
  }

  private hasShare({ key, bytes: own }: Held, bytes: number): boolean {
    if (key === undefined) return true;
    const ofKey = this.ofKey(key);
    return ofKey === own || ofKey + bytes <= this.bounds.maxBytesOfKey;
  }

  private hasRoom(held: Held, bytes: number): boolean {
    if (this.overdrawn === held || this.bytes === held.bytes) return true;
    return this.bytes + bytes <= this.bounds.maxBytes && this.hasShare(held, bytes);
  }

  /** True if a request waits for the shared memory. */
  private isQueued(): boolean {
    return this.queue.some(({ held, bytes }) => this.hasShare(held, bytes));
  }

  private wait(held: Held, bytes: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { held, bytes, resolve };
    this.queue.push(waiting);
    const timer = setTimeout(() => {
      this.queue.splice(this.queue.indexOf(waiting), 1);
      reject(tooMuch());
      this.letIn();
    }, this.bounds.maxWaitMs);
    return promise.finally(() => clearTimeout(timer));
  }
}

/** Places for one request at a provider, freed with its memory. */
export interface ReservedPlace {
  readonly provider: string;
  readonly slots: TakenSlots;
}

/** Memory of one request, held until it and its helpers end. */
export class Held {
  bytes = 0;
  /** Key of the share, once known. */
  key: string | undefined;
  private holders = 1;
  private answerBytes = 0;
  /** True while its answer arrives faster than it leaves. */
  isFlooded = false;
  /** It took memory, or waits for some. */
  hasAsked = false;
  /** Places at a provider that no call uses yet. */
  place: ReservedPlace | undefined;

  constructor(private readonly room: Room) {}

  /** Takes memory; a promise means waiting. Throws `overloaded` after too long. */
  take(bytes: number): Promise<void> | undefined {
    return this.holders === 0 ? undefined : this.room.take(this, bytes);
  }

  /** Takes memory for optional use, without waiting. */
  tryTake(bytes: number): boolean {
    return this.holders > 0 && this.room.tryTake(this, bytes);
  }

  /** Takes memory for the bytes of a complete answer and their processing. */
  takeAnswer(bytes: number): Promise<void> | undefined {
    const taken = ANSWER_FACTOR * bytes;
    this.answerBytes += taken;
    if (this.holders === 0 || this.room.tryTake(this, taken)) return undefined;
    // The rest arrives meanwhile.
    this.takeFlood();
    return this.room.take(this, taken);
  }

  /** A decoded answer needs memory only for its output. */
  giveBackAnswer(): void {
    this.giveBack(this.answerBytes);
    this.answerBytes = 0;
  }

  /** Adjusts the memory of an answer to its remaining size. Waits for more. */
  keepOfAnswer(bytes: number): Promise<void> | undefined {
    const taken = this.answerBytes;
    this.answerBytes = 0;
    if (taken < bytes) return this.take(bytes - taken);
    this.giveBack(taken - bytes);
    return undefined;
  }

  /** The answer arrives faster than it leaves. Throws `overloaded` beyond the limit of such answers. */
  takeFlood(): void {
    if (this.isFlooded || this.holders === 0) return;
    this.room.addFlood(this.key);
    this.isFlooded = true;
  }

  /** Ends reading ahead. */
  endFlood(): void {
    if (!this.isFlooded) return;
    this.isFlooded = false;
    this.room.endFlood(this.key);
  }

  giveBack(bytes: number): void {
    const given = Math.min(bytes, this.bytes);
    if (given <= 0) return;
    this.room.giveBack(this, given);
  }

  /** Adds another owner, which ends it as well. */
  share(): this {
    this.holders += 1;
    return this;
  }

  end(): void {
    if (this.holders === 0) return;
    this.holders -= 1;
    if (this.holders > 0) return;
    if (this.isFlooded) this.endFlood();
    this.place?.slots.end();
    if (this.hasAsked) this.room.end(this);
  }
}
