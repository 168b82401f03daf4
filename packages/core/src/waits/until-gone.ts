import { clientClosed } from '../errors/gateway-error';

/** What the work gives; as soon as the signal fires, rejects with `client_closed`, and the work goes on by itself. */
export async function untilGone<T>(work: Promise<T>, signal: AbortSignal, onGone?: () => void): Promise<T> {
  const gone = Promise.withResolvers<never>();
  const onAbort = () => {
    onGone?.();
    gone.reject(clientClosed());
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, gone.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
