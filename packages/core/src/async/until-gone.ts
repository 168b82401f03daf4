import { clientClosed } from '../errors/gateway-error';

/** Result of the work; rejects with `client_closed` when the signal fires, while the work continues. */
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
