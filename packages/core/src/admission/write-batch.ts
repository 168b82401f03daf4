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

  constructor(private readonly client: RedisClient) {}

  /** What is written from here on waits for the end of this turn, at most. */
  open(): void {
    if (this.corked !== undefined) return;
    // Only a single server has one stream; a cluster's nodes write for themselves.
    const { stream } = this.client as unknown as { readonly stream?: Corkable };
    if (stream?.cork === undefined) return;
    stream.cork();
    this.corked = stream;
    process.nextTick(this.flush);
  }

  /** Everything written so far is on the wire when this returns. */
  readonly flush = (): void => {
    const { corked } = this;
    this.corked = undefined;
    corked?.uncork();
  };
}
