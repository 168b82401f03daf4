import { LinkedSet } from '../collections/linked-set';

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

interface OpenRead {
  readonly byMs: number;
  readonly expire: () => void;
}

/** Deadlines of small whole bodies, against trickling. */
export class BodyDeadlines {
  private readonly open = new LinkedSet<OpenRead>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: BodyDeadlinesOptions = {}) {}

  get count(): number {
    return this.open.size;
  }

  /** Awaits `reading`. Fails with `late()` up to a second after the time limit for its size. */
  read<T>(reading: Promise<T>, bytes: number, late: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const byMs = performance.now() + readTimeMs(bytes, this.options.graceMs);
      const expire = () => {
        this.open.remove(place);
        reject(late());
      };
      const place = this.open.add({ byMs, expire });
      this.timer ??= this.startTimer();
      reading.then(
        (value) => {
          this.open.remove(place);
          resolve(value);
        },
        (error: unknown) => {
          this.open.remove(place);
          reject(error);
        },
      );
    });
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
