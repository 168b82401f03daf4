import { clientClosed } from '../errors/gateway-error';

/** What the work gives; as soon as the signal fires, rejects with `client_closed`, and the work goes on by itself. */
export function untilGone<T>(work: Promise<T>, signal: AbortSignal, onGone?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      onGone?.();
      reject(clientClosed());
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}
