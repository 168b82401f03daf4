import { connect } from 'node:net';

export interface Connecting {
  readonly url: string;
  /** Milliseconds within which a host that is there takes a connection. */
  readonly withinMs: number;
  readonly onFailed: () => void;
  readonly dial?: (place: { readonly host: string; readonly port: number }) => Pick<Socket, 'once' | 'destroy'>;
}

type Socket = ReturnType<typeof connect>;

/**
 * Reports a host that accepts no connection. The runtime's fetch doesn't report its own, so this tries another: a
 * connection or a refusal proves the host. Returns a stop function.
 */
export function watchConnecting({ url, withinMs, onFailed, dial = connect }: Connecting): () => void {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = dial({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
  const stop = () => {
    clearTimeout(timer);
    socket.destroy();
  };
  const timer = setTimeout(() => {
    stop();
    onFailed();
  }, withinMs);
  socket.once('connect', stop);
  socket.once('error', stop);
  return stop;
}
