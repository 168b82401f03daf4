import type { RedisClient } from './redis-scripts';

interface Corkable {
  cork(): void;
  uncork(): void;
}

/**
 * Lets the decisions that are asked for in one turn of the event loop leave in one write. A system call a command was a
 * third of the client's time; ioredis' auto-pipelining waits for more than that and slows few connections down.
 */
export class WriteBatch {
  private corked: Corkable | undefined;
  private flushing = false;

  constructor(private readonly client: RedisClient) {}

  /** What is written from here on waits for the end of this turn, at most. */
  open(): void {
    if (this.cork()) process.nextTick(this.flush);
  }

  /**
   * What is written from here on waits for the microtasks queued so far: settlements whose decisions came in one reply
   * share a write, and all of it is out before any promise that is resolved from here on can answer a caller.
   */
  openBriefly(): void {
    this.cork();
    if (this.flushing) return;
    this.flushing = true;
    queueMicrotask(this.flush);
  }

  /** False when there was nothing to do. */
  private cork(): boolean {
    if (this.corked !== undefined) return false;
    // Only a single server has one stream; a cluster's nodes write for themselves.
    const { stream } = this.client as unknown as { readonly stream?: Corkable };
    if (stream?.cork === undefined) return false;
    stream.cork();
    this.corked = stream;
    return true;
  }

  /** Everything written so far is on the wire when this returns. */
  readonly flush = (): void => {
    const { corked } = this;
    this.corked = undefined;
    this.flushing = false;
    corked?.uncork();
  };
}
