import { inTime } from '@llm0/core/async/in-time';
import { Held, Room, type RoomBounds } from '@llm0/core/async/room';

/** Memory factor of a body: bytes, text, parsed form and output. */
const BODY_FACTOR = 6;
/** Part that stays held for the rest of the request, after reading and sending. */
const KEPT_FACTOR = 2;
const WORK_MS = 2000;
/** Less is not worth counting. */
const SMALL_BYTES = 64 * 1024;

/** A request that is served. */
export class UnderWay {
  readonly held: Held;
  private isOpen = true;

  constructor(
    private readonly openRequests: OpenRequests,
    room: Room,
  ) {
    this.held = new Held(room);
  }

  /** Its last byte went out, or its caller left; however often it is called. */
  readonly end = (): void => {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.held.end();
    this.openRequests.leave();
  };

  /**
   * Takes memory for body bytes and their processing, most of which is freed soon. Waits for it; throws `overloaded`
   * after too long.
   */
  takeBody(bytes: number): Promise<void> | undefined {
    if (bytes <= SMALL_BYTES) return undefined;
    const { held } = this;
    const giveBackSoon = () =>
      void setTimeout(() => held.giveBack((BODY_FACTOR - KEPT_FACTOR) * bytes), WORK_MS).unref();
    const waiting = held.take(BODY_FACTOR * bytes);
    if (waiting !== undefined) return waiting.then(giveBackSoon);
    giveBackSoon();
    return undefined;
  }
}

/** Counts requests under way, so that a drain knows when the last one has ended. */
export class OpenRequests {
  private open = 0;
  private waiting: (() => void)[] = [];
  /** The process is going away. */
  isDraining = false;
  private readonly room: Room;

  constructor(bounds: Partial<RoomBounds> = {}) {
    this.room = new Room(bounds);
  }

  enter(): UnderWay {
    this.open += 1;
    return new UnderWay(this, this.room);
  }

  /** Ends the request. */
  leave(): void {
    this.open -= 1;
    if (this.open === 0) for (const resolve of this.waiting.splice(0)) resolve();
  }

  get count(): number {
    return this.open;
  }

  /** Marks the process as going away; resolves when nothing is under way any more, or false after `timeoutMs`. */
  drain(timeoutMs: number): Promise<boolean> {
    this.isDraining = true;
    if (this.open === 0) return Promise.resolve(true);
    const idle = Promise.withResolvers<true>();
    this.waiting.push(() => idle.resolve(true));
    return inTime(idle.promise, timeoutMs, () => false);
  }
}
