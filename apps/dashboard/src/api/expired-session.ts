type Listener = (isExpired: boolean) => void;

let waiting: PromiseWithResolvers<void> | undefined;
let notify: Listener | undefined;

/** Resolves after the next sign-in; meanwhile the page keeps its input. */
export function awaitSignIn(): Promise<void> {
  if (waiting === undefined) {
    waiting = Promise.withResolvers<void>();
    notify?.(true);
  }
  return waiting.promise;
}

/** Lets every request that waits go out again. */
export function resumeAfterSignIn(): void {
  const done = waiting;
  waiting = undefined;
  notify?.(false);
  done?.resolve();
}

/** Calls back when a session turns out to be over, and when it is renewed; one listener at a time; returns the unsubscriber. */
export function onExpiredSession(listener: Listener): () => void {
  notify = listener;
  return () => {
    notify = undefined;
  };
}
