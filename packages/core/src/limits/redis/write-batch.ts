import type { RedisClient } from './scripts';

interface Corkable {
  cork(): void;
  uncork(): void;
}

/**
 * Sends the commands of one event loop round in one write. One system call per command was a third of the client's
 * time. ioredis' auto-pipelining waits longer and slows few connections down.
 */
export class WriteBatch {
  private corked: Corkable | undefined;
  private leaving: PromiseWithResolvers<void> | undefined;
  private readonly senders: (() => void)[] = [];

  constructor(private readonly client: RedisClient) {}

  /** Sends gathered requests at the end of each round. */
  onLeaving(send: () => void): void {
    this.senders.push(send);
  }

  /** Writes from here on wait at most for the end of this round. Resolves once they are on the wire. */
  open(): Promise<void> {
    if (this.leaving !== undefined) return this.leaving.promise;
    // A cluster's nodes write for themselves.
    const { stream } = this.client as unknown as { readonly stream?: Corkable };
    if (stream?.cork !== undefined) {
      stream.cork();
      this.corked = stream;
    }
    this.leaving = Promise.withResolvers<void>();
    setImmediate(this.flush);
    return this.leaving.promise;
  }

  private readonly flush = (): void => {
    try {
      for (const send of this.senders) send();
    } finally {
      const { corked, leaving } = this;
      this.corked = undefined;
      this.leaving = undefined;
      try {
        corked?.uncork();
      } finally {
        leaving?.resolve();
      }
    }
  };
}
