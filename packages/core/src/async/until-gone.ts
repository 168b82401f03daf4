import { clientClosed } from '../errors/gateway-error';

/** Result of the work; rejects with `client_closed` when the signal fires, while the work continues. */
export function untilGone<T>(work: Promise<T>, signal: AbortSignal, onGone?: () => void): Promise<T> {
  const wait = new Wait<T>(signal, onGone);
  void wait.follow(work);
  return wait.result.promise;
}

/** The listener itself, which costs no closures. */
class Wait<T> {
  readonly result = Promise.withResolvers<T>();

  constructor(
    private readonly signal: AbortSignal,
    private readonly onGone: (() => void) | undefined,
  ) {
    if (signal.aborted) this.handleEvent();
    else signal.addEventListener('abort', this);
  }

  handleEvent(): void {
    this.onGone?.();
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
