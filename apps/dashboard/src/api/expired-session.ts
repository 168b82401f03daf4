type Listener = (isExpired: boolean) => void;

let waiting: PromiseWithResolvers<void> | undefined;
const listeners = new Set<Listener>();

/** Resolves once somebody has signed in again; until then the page keeps what was typed. */
export function awaitSignIn(): Promise<void> {
  if (waiting === undefined) {
    waiting = Promise.withResolvers<void>();
    for (const listener of listeners) listener(true);
  }
  return waiting.promise;
}

/** Lets every request that waits go out again. */
export function resumeAfterSignIn(): void {
  const done = waiting;
  waiting = undefined;
  for (const listener of listeners) listener(false);
  done?.resolve();
}

/** Calls back when a session turns out to be over, and when it is renewed; returns the unsubscriber. */
export function onExpiredSession(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
