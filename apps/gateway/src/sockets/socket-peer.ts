/** The runtime's end of a connection. */
export type Wire = Pick<
  Bun.ServerWebSocket<unknown>,
  'send' | 'close' | 'terminate' | 'pause' | 'resume' | 'getBufferedAmount'
>;

/** One connection, called by the runtime. */
export interface SocketPeer {
  open(wire: Wire): void;
  receive(message: string | Buffer): void;
  drain(): void;
  /** By whomever. */
  closed(): void;
}
