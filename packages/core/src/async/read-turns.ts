import { nextTurn } from './time-slices';

export interface ReadTurnsOptions {
  /** Bodies with a turn at the same time. */
  readonly most: number;
  /** Milliseconds after which turns end if others wait. */
  readonly leaseMs: number;
}

/**
 * Turns of large bodies that arrive faster than they leave: the runtime takes several megabytes for each one that moves,
 * and 1.4 for one that waits. A body that leaves as it arrives needs no turn, so slow callers keep nobody waiting.
 */
export class ReadTurns {
  /** Oldest first. */
  private readonly holders: BodyReads[] = [];
  private readonly waiting: BodyReads[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Bodies that are there. */
  private count = 0;

  constructor(private readonly options: ReadTurnsOptions) {}

  begin(): BodyReads {
    this.count += 1;
    return new BodyReads(this);
  }

  /** False while there is a turn for each body. */
  get isCrowded(): boolean {
    return this.count > this.options.most;
  }

  end(reads: BodyReads): void {
    this.count -= 1;
    this.give(reads);
  }

  /** undefined: it has its turn. */
  take(reads: BodyReads): Promise<void> | undefined {
    if (this.holders.includes(reads)) return undefined;
    if (this.holders.length < this.options.most) {
      this.holders.push(reads);
      return undefined;
    }
    this.waiting.push(reads);
    this.timer ??= setTimeout(this.rotate, this.options.leaseMs);
    return new Promise((resolve) => {
      reads.wake = resolve;
    });
  }

  /** Ends its turn, or its wait. */
  give(reads: BodyReads): void {
    const at = this.waiting.indexOf(reads);
    if (at >= 0) this.wake(this.waiting.splice(at, 1));
    const held = this.holders.indexOf(reads);
    if (held < 0) return;
    this.holders.splice(held, 1);
    const next = this.waiting.splice(0, 1);
    this.holders.push(...next);
    this.wake(next);
  }

  private wake(all: readonly BodyReads[]): void {
    for (const { wake } of all) wake?.();
  }

  /** A holder may wait for its vendor for long. */
  private readonly rotate = (): void => {
    for (const holder of this.holders.slice(0, this.waiting.length)) this.give(holder);
    this.timer = this.waiting.length === 0 ? undefined : setTimeout(this.rotate, this.options.leaseMs);
  };
}

/** The reads of one body. */
export class BodyReads {
  /** Ends a wait. */
  wake: (() => void) | undefined;
  /** True while it leaves as it arrives. */
  private isCalm = true;
  private isOver = false;

  constructor(private readonly turns: ReadTurns) {}

  /** Reads once it may. */
  async read<T>(start: () => Promise<T>): Promise<T> {
    if (!this.turns.isCrowded) return start();
    if (!this.isCalm) await this.turns.take(this);
    const reading = start();
    const isThere = await Promise.race([reading.then(() => true), nextTurn().then(() => false)]);
    this.isCalm = !isThere;
    if (this.isCalm) this.turns.give(this);
    return reading;
  }

  /** No more reads. */
  end(): void {
    this.isCalm = true;
    if (this.isOver) return;
    this.isOver = true;
    this.turns.end(this);
  }
}
