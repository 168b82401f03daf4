import { inTime } from '@llm0/core/waits/in-time';

/** Counts requests under way, so that a drain knows when the last one has ended. */
export class Activity {
  private open = 0;
  private waiting: (() => void)[] = [];
  private draining = false;

  /** A request begins; the returned function ends it, however often it is called. */
  enter(): () => void {
    this.open += 1;
    let entered = true;
    return () => {
      if (!entered) return;
      entered = false;
      this.open -= 1;
      if (this.open === 0) for (const resolve of this.waiting.splice(0)) resolve();
    };
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
