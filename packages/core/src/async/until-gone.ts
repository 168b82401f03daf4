import { clientClosed } from '../errors/gateway-error';

/** Somebody who leaves when the signal fires. */
interface Waiting {
  leave(): void;
}

/** Result of the work; rejects with `client_closed` when the signal fires, while the work continues. */
export async function untilGone<T>(work: Promise<T>, signal: AbortSignal, waiting?: Waiting): Promise<T> {
  const gone = new Gone<T>(signal, waiting);
  work.then(gone.result.resolve, gone.result.reject);
  try {
    return await gone.result.promise;
  } finally {
    signal.removeEventListener('abort', gone);
  }
}

/** The listener itself, which costs no closures. */
class Gone<T> {
  readonly result = Promise.withResolvers<T>();

  constructor(
    signal: AbortSignal,
    private readonly waiting: Waiting | undefined,
  ) {
    if (signal.aborted) this.handleEvent();
    else signal.addEventListener('abort', this);
  }

  handleEvent(): void {
    this.waiting?.leave();
    this.result.reject(clientClosed());
  }
}
