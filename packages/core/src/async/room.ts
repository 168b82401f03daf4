// Nobody waits in vain: one request that has begun to be held may always go on, so that room is given back in the end.
import { GatewayError } from '../errors/gateway-error';

/** Memory limits of all requests, and of one key; a single request may exceed them. */
const BOUNDS = {
  ...{ maxBytes: 160_000_000, maxBytesOfKey: 80_000_000, maxWaitMs: 10_000 },
  /** Answers that come faster than they are passed on: the runtime reads up to 3 MB of each ahead, and can't be told not to. */
  ...{ maxFloods: 64, maxFloodsOfKey: 16 },
};
/** An answer's bytes, all of them as one, their text, what was read of it, and what is said instead. */
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

/** Memory for what is held whole: bodies of requests, and answers that must be there before any of it goes on. */
export class Room {
  private bytes = 0;
  private readonly bytesByKey = new Map<string, number>();
  private floods = 0;
  private readonly floodsByKey = new Map<string | undefined, number>();
  /** Those of other keys may overtake whoever waits for its own key's share. */
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
    // What it keeps may stay for long: the next one may go on.
    if (this.overdrawn === held && this.bytes <= this.bounds.maxBytes && this.hasShare(held, 0))
      this.overdrawn = undefined;
    this.letIn();
  }

  /** The request is over; what it waits for is given up. */
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

  /** Somebody waits for what all share. */
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

/** Memory of one request, held until it and its helpers end. */
export class Held {
  bytes = 0;
  /** Key whose share it takes, once known. */
  key: string | undefined;
  private holders = 1;
  private answerBytes = 0;
  /** Its answer comes faster than it is passed on. */
  isFlooded = false;

  constructor(private readonly room: Room) {}

  /** Takes room; waits for it, where a promise comes back. Throws `overloaded` where that takes too long. */
  take(bytes: number): Promise<void> | undefined {
    return this.holders === 0 ? undefined : this.room.take(this, bytes);
  }

  /** The same for what may be done without. */
  tryTake(bytes: number): boolean {
    return this.holders > 0 && this.room.tryTake(this, bytes);
  }

  /** The same for bytes of an answer that is read whole, and for what is made of them. */
  takeAnswer(bytes: number): Promise<void> | undefined {
    const taken = ANSWER_FACTOR * bytes;
    this.answerBytes += taken;
    if (this.holders === 0 || this.room.tryTake(this, taken)) return undefined;
    // The rest of it comes meanwhile.
    this.takeFlood();
    return this.room.take(this, taken);
  }

  /** A decoded answer needs memory only for its output. */
  giveBackAnswer(): void {
    this.giveBack(this.answerBytes);
    this.answerBytes = 0;
  }

  /** The same where so many bytes are left of it. Waits where that is more than was taken. */
  keepOfAnswer(bytes: number): Promise<void> | undefined {
    const taken = this.answerBytes;
    this.answerBytes = 0;
    if (taken < bytes) return this.take(bytes - taken);
    this.giveBack(taken - bytes);
    return undefined;
  }

  /** The answer comes faster than it is passed on. Throws `overloaded` where that holds for too many already. */
  takeFlood(): void {
    if (this.isFlooded || this.holders === 0) return;
    this.room.addFlood(this.key);
    this.isFlooded = true;
  }

  /** Nothing of it is read ahead any more. */
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

  /** Somebody else holds it as well, and ends it too. */
  share(): this {
    this.holders += 1;
    return this;
  }

  end(): void {
    if (this.holders === 0) return;
    this.holders -= 1;
    if (this.holders > 0) return;
    this.endFlood();
    this.room.end(this);
  }
}
