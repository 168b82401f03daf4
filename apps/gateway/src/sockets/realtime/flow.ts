export type Frame = string | Buffer;

/** An end that can be told to wait. */
interface Source {
  pause(): unknown;
  resume(): unknown;
}

/** Why a source isn't read: something has to be decided first, or the other end takes its time. */
const REASONS = { decision: 1, backpressure: 2 } as const;
export type Reason = keyof typeof REASONS;

/** Frames of one direction, in order. While one of them waits, the source isn't read. */
export class Flow {
  private reasons = 0;
  /** Came before the source had stopped. */
  private readonly waiting: Frame[] = [];
  private isBusy = false;

  /** `take` passes a frame on; its promise, which never rejects, means that all others wait. */
  constructor(
    private readonly source: Source,
    private readonly take: (frame: Frame) => Promise<void> | undefined,
  ) {}

  push(frame: Frame): void {
    if (this.isBusy) this.waiting.push(frame);
    else this.pass(frame);
  }

  stop(reason: Reason): void {
    if (this.reasons === 0) this.source.pause();
    this.reasons |= REASONS[reason];
  }

  go(reason: Reason): void {
    if ((this.reasons & REASONS[reason]) === 0) return;
    this.reasons &= ~REASONS[reason];
    if (this.reasons === 0) this.source.resume();
  }

  isStoppedBy(reason: Reason): boolean {
    return (this.reasons & REASONS[reason]) !== 0;
  }

  private pass(frame: Frame): void {
    const pending = this.take(frame);
    if (pending === undefined) return;
    this.isBusy = true;
    this.stop('decision');
    void pending.then(() => this.passRest());
  }

  private passRest(): void {
    this.isBusy = false;
    for (let frame = this.waiting.shift(); frame !== undefined; frame = this.waiting.shift()) {
      this.pass(frame);
      if (this.isBusy) return;
    }
    this.go('decision');
  }
}
