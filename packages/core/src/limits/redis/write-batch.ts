import type { RedisClient } from './scripts';

interface Corkable {
  cork(): void;
  uncork(): void;
}

/**
 * Lets everything that is asked for in one round of the event loop leave in one write. A system call a command was a third
 * of the client's time; ioredis' auto-pipelining waits for more than that and slows few connections down.
 */
export class WriteBatch {
  private corked: Corkable | undefined;
  private leaving: PromiseWithResolvers<void> | undefined;

  constructor(private readonly client: RedisClient) {}

  /**
   * What is written from here on waits for the end of this round, at most. Resolves once it is on the wire; undefined
   * where nothing waits (a cluster's nodes write for themselves).
   */
  open(): Promise<void> | undefined {
    if (this.leaving !== undefined) return this.leaving.promise;
    const { stream } = this.client as unknown as { readonly stream?: Corkable };
    if (stream?.cork === undefined) return undefined;
    stream.cork();
    this.corked = stream;
    this.leaving = Promise.withResolvers<void>();
    setImmediate(this.flush);
    return this.leaving.promise;
  }

  private readonly flush = (): void => {
    const { corked, leaving } = this;
    this.corked = undefined;
    this.leaving = undefined;
    try {
      corked?.uncork();
    } finally {
      leaving?.resolve();
    }
  };
}
