import { LinkedSet, type Place } from '../collections/linked-set';

const GRACE_MS = 30_000;
/** A slower caller occupies memory that others need. */
const MIN_BYTES_PER_MS = 32;
/** One timer over all reads under way: a timer for each would cost more than reading most bodies. */
const SWEEP_MS = 1000;

/** Time for a body of this length to arrive, in milliseconds. */
export const readTimeMs = (bytes: number, graceMs = GRACE_MS): number => graceMs + bytes / MIN_BYTES_PER_MS;

export interface BodyDeadlinesOptions {
  readonly graceMs?: number;
  readonly sweepMs?: number;
}

/** A read under way; ends early if it expires. */
class OpenRead<T> {
  readonly result = Promise.withResolvers<T>();
  private readonly place: Place<Expiring>;

  constructor(
    private readonly open: LinkedSet<Expiring>,
    readonly byMs: number,
    private readonly late: () => Error,
  ) {
    this.place = open.add(this);
  }

  async follow(reading: Promise<T>): Promise<void> {
    try {
      this.result.resolve(await reading);
    } catch (error) {
      this.result.reject(error);
    } finally {
      this.open.remove(this.place);
    }
  }

  expire(): void {
    this.open.remove(this.place);
    this.result.reject(this.late());
  }
}

type Expiring = Pick<OpenRead<unknown>, 'byMs' | 'expire'>;

/** Deadlines of small whole bodies, against trickling. */
export class BodyDeadlines {
  private readonly open = new LinkedSet<Expiring>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: BodyDeadlinesOptions = {}) {}

  get count(): number {
    return this.open.size;
  }

  /** Awaits `reading`. Fails with `late()` up to a second after the time limit for its size. */
  read<T>(reading: Promise<T>, bytes: number, late: () => Error): Promise<T> {
    const read = new OpenRead<T>(this.open, performance.now() + readTimeMs(bytes, this.options.graceMs), late);
    this.timer ??= this.startTimer();
    void read.follow(reading);
    return read.result.promise;
  }

  private startTimer(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => this.sweep(), this.options.sweepMs ?? SWEEP_MS);
    timer.unref();
    return timer;
  }

  private sweep(): void {
    if (this.open.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    const nowMs = performance.now();
    for (const read of this.open) if (read.byMs <= nowMs) read.expire();
  }
}
