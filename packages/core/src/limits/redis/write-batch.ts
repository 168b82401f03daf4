import { Cluster } from 'ioredis';
import type { RedisClient } from './scripts';

interface Corkable {
  cork(): void;
  uncork(): void;
}

/** Sends what it gathered in the turn. */
export interface Sender {
  send(): void;
}

/**
 * Sends the commands of one event loop round in one write. One system call per command was a third of the client's
 * time. ioredis' auto-pipelining waits longer and slows few connections down.
 */
export class WriteBatch {
  private corked: Corkable | undefined;
  private leaving: PromiseWithResolvers<void> | undefined;
  private readonly senders: Sender[] = [];

  constructor(private readonly client: RedisClient) {}

  /**
   * Writes from here on wait at most for the end of this round; the sender is called then. Resolves once they are on the
   * wire.
   */
  open(sender?: Sender): Promise<void> {
    if (sender !== undefined) this.senders.push(sender);
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
      for (const sender of this.senders) sender.send();
    } finally {
      this.senders.length = 0;
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

interface Wired {
  readonly stream?: { readonly writableLength?: number };
}

/** True while bytes still wait in this process because the server (on a cluster: one of its nodes) does not take them. */
export function backedUpOf(client: RedisClient): () => boolean {
  if (!(client instanceof Cluster)) return () => ((client as unknown as Wired).stream?.writableLength ?? 0) > 0;
  return () => {
    const nodes = client.nodes('master');
    return nodes.some((node) => {
      // A node's connection queues writes until it is ready.
      const isWaiting = nodes.length > 1 && node.status !== 'ready';
      return isWaiting || ((node as unknown as Wired).stream?.writableLength ?? 0) > 0;
    });
  };
}
