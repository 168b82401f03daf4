import { clientClosed } from '../errors/gateway-error';

/** Somebody who leaves when the signal fires. */
interface Waiting {
  leave(): void;
}

/** Result of the work; rejects with `client_closed` when the signal fires, while the work continues. */
export function untilGone<T>(work: Promise<T>, signal: AbortSignal, waiting?: Waiting): Promise<T> {
  const wait = new Wait<T>(signal, waiting);
  void wait.follow(work);
  return wait.result.promise;
}

/** The listener itself, which costs no closures. */
class Wait<T> {
  readonly result = Promise.withResolvers<T>();

  constructor(
    private readonly signal: AbortSignal,
    private readonly waiting: Waiting | undefined,
  ) {
    if (signal.aborted) this.handleEvent();
    else signal.addEventListener('abort', this);
  }

  handleEvent(): void {
    this.waiting?.leave();
    this.result.reject(clientClosed());
  }

  async follow(work: Promise<T>): Promise<void> {
    try {
      this.result.resolve(await work);
    } catch (error) {
      this.result.reject(error);
    } finally {
      this.signal.removeEventListener('abort', this);
    }
  }
}
