// In memory: each process keeps the order of its own requests.
import { clientClosed } from '../errors/gateway-error';

/** Requests of one project that may wait in one process. */
const MOST_WAITING = 1000;
/** By then the store knows that a request has ended. */
const SETTLED_MS = 5;

type Cancel = () => void;

export interface TurnClock {
  readonly monotonicMs: () => number;
  /** Calls once after that time, unless it was cancelled. */
  readonly after: (ms: number, call: () => void) => Cancel;
}

export const turnClock: TurnClock = {
  monotonicMs: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

export interface TurnWanted {
  readonly projectId: string;
  /** Monotonic time until which it waits. */
  readonly untilMs: number;
  /** Aborts when its caller leaves. */
  readonly signal: AbortSignal;
}

/** Requests that wait for a limit instead of failing: one after the other for each limit, its lane. */
export class TurnQueue {
  /** Waiting requests. A plain number, because every request looks at it. */
  size = 0;
  private readonly lanes = new Map<string, Lane>();
  private readonly sizes = new Map<string, number>();

  constructor(private readonly clock: TurnClock = turnClock) {}

  isBusy(lane: string): boolean {
    return this.lanes.has(lane);
  }

  /** A turn behind the others of the lane; undefined where too many of its project wait. */
  join(name: string, wanted: TurnWanted): Turn | undefined {
    if ((this.sizes.get(wanted.projectId) ?? 0) >= MOST_WAITING) return undefined;
    this.count(wanted.projectId, 1);
    const lane = this.lanes.getOrInsertComputed(name, () => new Lane(this.clock));
    const turn = new Turn(name, { lane, wanted, clock: this.clock }, () => {
      this.count(wanted.projectId, -1);
      if (lane.turns.length === 0) this.lanes.delete(name);
    });
    lane.turns.push(turn);
    return turn;
  }

  /** A request that counted there has ended; the store knows it `afterMs` later. */
  freed(name: string, afterMs = SETTLED_MS): void {
    this.lanes.get(name)?.freeFrom(this.clock.monotonicMs() + afterMs);
  }

  private count(projectId: string, change: number): void {
    this.size += change;
    const size = (this.sizes.get(projectId) ?? 0) + change;
    if (size > 0) this.sizes.set(projectId, size);
    else this.sizes.delete(projectId);
  }
}

class Lane {
  readonly turns: Turn[] = [];
  private dueMs = Number.NEGATIVE_INFINITY;
  private freeMs = Number.NEGATIVE_INFINITY;
  private cancel: Cancel | undefined;

  constructor(private readonly clock: TurnClock) {}

  /** Nobody passes before that time, unless a place became free since `askedMs`. */
  holdUntil(ms: number, askedMs: number): void {
    this.dueMs = this.freeMs > askedMs ? Math.min(ms, this.freeMs) : ms;
  }

  /** A place is free from that time. */
  freeFrom(ms: number): void {
    this.freeMs = ms;
    this.dueMs = Math.min(this.dueMs, ms);
    this.callFirst();
  }

  /** One has passed: the next may try at once. */
  open(): void {
    this.dueMs = Number.NEGATIVE_INFINITY;
  }

  /** Lets the first one ask, once it is due. */
  callFirst(): void {
    this.cancel?.();
    this.cancel = undefined;
    const [first] = this.turns;
    if (first === undefined) return;
    const waitMs = this.dueMs - this.clock.monotonicMs();
    if (waitMs <= 0) first.call();
    else this.cancel = this.clock.after(waitMs, () => this.callFirst());
  }
}

interface TurnParts {
  readonly lane: Lane;
  readonly wanted: TurnWanted;
  readonly clock: TurnClock;
}

/** One request in a lane, from its first wait until `leave`. */
export class Turn {
  /** Its time is over: it may ask once more. */
  isOver = false;
  private resolve: (() => void) | undefined;
  private askedMs = Number.POSITIVE_INFINITY;

  constructor(
    readonly name: string,
    private readonly parts: TurnParts,
    private readonly onLeave: () => void,
  ) {}

  /** Waits until it may ask: as the first of its lane once that is due, or at the end of its time. Throws `client_closed`. */
  async mine(): Promise<void> {
    const { lane, wanted, clock } = this.parts;
    const { signal, untilMs } = wanted;
    const waiting = Promise.withResolvers<void>();
    const leave = () => waiting.reject(clientClosed(signal.reason));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave);
    const cancel = clock.after(Math.max(0, untilMs - clock.monotonicMs()), () => {
      this.isOver = true;
      this.call();
    });
    this.resolve = waiting.resolve;
    lane.callFirst();
    try {
      await waiting.promise;
    } finally {
      this.resolve = undefined;
      cancel();
      signal.removeEventListener('abort', leave);
      this.askedMs = clock.monotonicMs();
    }
  }

  /** Ends its wait. */
  call(): void {
    this.resolve?.();
  }

  /** It asked as the first one, and nobody passes for that long. */
  denied(forMs: number): void {
    const { lane, clock } = this.parts;
    if (lane.turns[0] === this) lane.holdUntil(clock.monotonicMs() + forMs, this.askedMs);
  }

  /** `passed`: the next one may pass as well. */
  leave(passed: boolean): void {
    const { turns } = this.parts.lane;
    const at = turns.indexOf(this);
    if (at < 0) return;
    turns.splice(at, 1);
    this.onLeave();
    if (at > 0) return;
    if (passed) this.parts.lane.open();
    this.parts.lane.callFirst();
  }
}
