import { GatewayError } from '@llm0/core/errors/gateway-error';
import { inTime } from '@llm0/core/waits/in-time';

/** What large bodies may take in memory together; one that is alone may take more. */
const MAX_CARRIED_BYTES = 200_000_000;
/** A large body's bytes, its text, what was read of it, what is sent on, and what of them was not collected yet. */
const COST_FACTOR = 6;
/** What of that is held for the rest of its request, once it had time to be read and sent. */
const HELD_FACTOR = 2;
const WORK_MS = 2000;
/** Room given back since the heap was last asked to look after what bodies leave behind. */
const COLLECT_AFTER_BYTES = 16_000_000;
const COLLECT_MS = 20;
const COLLECT_REST_MS = 200;
/** How long a large body waits for room. */
const MAX_WAIT_MS = 10_000;
const RETRY_MS = 1000;

/** Ends a request. */
export interface Release {
  (): void;
  /** Takes room for bytes of a large body until the request ends. Throws `overloaded` where there is none. */
  carry(bytes: number): void;
  /** The same for a whole body, before it is read; waits for its turn. Throws `overloaded` after 10 s. */
  reserve(bytes: number): Promise<void>;
}

function tooMuch(): GatewayError {
  const message = 'This gateway is busy with as many large requests as it can hold. Please retry.';
  return new GatewayError('overloaded', message, { param: 'body', retryAfterMs: RETRY_MS });
}

const sleepUnref = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref());

interface QueuedBody {
  readonly cost: number;
  readonly resolve: () => void;
}

/** Counts requests under way, so that a drain knows when the last one has ended. */
export class Activity {
  private open = 0;
  private carried = 0;
  private leftBehind = 0;
  /** Set while what was left behind is being collected. */
  private collected: Promise<void> | undefined;
  private collectedMs = Number.NEGATIVE_INFINITY;
  private waiting: (() => void)[] = [];
  /** Bodies that wait for room, first come, first served. */
  private readonly queue: QueuedBody[] = [];
  private draining = false;

  /** `maxCarriedBytes`: in memory, of the large bodies of all requests under way. */
  constructor(
    private readonly maxCarriedBytes = MAX_CARRIED_BYTES,
    private readonly maxWaitMs = MAX_WAIT_MS,
  ) {}

  /** A request begins; the returned function ends it, however often it is called. */
  enter(): Release {
    this.open += 1;
    let entered = true;
    let carried = 0;
    const release: { (): void; carry?: Release['carry']; reserve?: Release['reserve'] } = () => {
      if (!entered) return;
      entered = false;
      this.open -= 1;
      if (carried > 0) this.giveBack(carried);
      if (this.open === 0) for (const resolve of this.waiting.splice(0)) resolve();
    };
    // Set one by one: an object assigned to a function costs every request a table of its own.
    release.carry = (bytes) => {
      if (!entered) return;
      const cost = COST_FACTOR * bytes;
      if (this.carried > carried && this.carried + cost > this.maxCarriedBytes) throw tooMuch();
      carried += cost;
      this.carried += cost;
    };
    release.reserve = async (bytes) => {
      const cost = COST_FACTOR * bytes;
      await this.turnOf(cost);
      if (this.collected !== undefined) await this.collected;
      if (!entered) return this.giveBack(cost);
      carried += cost;
      const timer = setTimeout(() => {
        if (!entered) return;
        carried -= (COST_FACTOR - HELD_FACTOR) * bytes;
        this.giveBack((COST_FACTOR - HELD_FACTOR) * bytes);
      }, WORK_MS);
      timer.unref();
    };
    return release as Release;
  }

  private hasRoom(cost: number): boolean {
    return this.carried === 0 || this.carried + cost <= this.maxCarriedBytes;
  }

  /** Resolves once its room is taken. */
  private turnOf(cost: number): Promise<void> {
    if (this.queue.length === 0 && this.hasRoom(cost)) {
      this.carried += cost;
      return Promise.resolve();
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const body: QueuedBody = { cost, resolve };
    this.queue.push(body);
    const timer = setTimeout(() => {
      this.queue.splice(this.queue.indexOf(body), 1);
      reject(tooMuch());
    }, this.maxWaitMs);
    return promise.finally(() => clearTimeout(timer));
  }

  private giveBack(cost: number): void {
    this.carried -= cost;
    this.leftBehind += cost;
    if (this.leftBehind >= COLLECT_AFTER_BYTES) this.collect();
    for (let next = this.queue[0]; next !== undefined && this.hasRoom(next.cost); next = this.queue[0]) {
      this.queue.shift();
      this.carried += next.cost;
      next.resolve();
    }
  }

  /** Else it is kept until the heap has grown by several large bodies. Once for all that end together: it takes milliseconds. */
  private collect(): void {
    this.leftBehind = 0;
    this.collected ??= this.collectSoon();
  }

  private async collectSoon(): Promise<void> {
    const waitMs = Math.max(COLLECT_MS, this.collectedMs + COLLECT_REST_MS - performance.now());
    await sleepUnref(waitMs);
    Bun.gc(false);
    await sleepUnref(COLLECT_MS);
    this.collectedMs = performance.now();
    this.collected = undefined;
  }

  get count(): number {
    return this.open;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** Marks the process as going away; resolves when nothing is under way any more, or false after `timeoutMs`. */
  drain(timeoutMs: number): Promise<boolean> {
    this.draining = true;
    if (this.open === 0) return Promise.resolve(true);
    const idle = Promise.withResolvers<true>();
    this.waiting.push(() => idle.resolve(true));
    return inTime(idle.promise, timeoutMs, () => false);
  }
}
