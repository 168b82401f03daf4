type Listener = (isExpired: boolean) => void;

let waiting: PromiseWithResolvers<void> | undefined;
let notify: Listener | undefined;
let notifyStale: (() => void) | undefined;

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

/** Code of a change that needs a recent sign-in. */
export const SIGN_IN_AGAIN = 'sign_in_again';

/** Tells the shell that a change was refused until the person signs in again. */
export const askForSignIn = (): void => notifyStale?.();

/** Calls back at each such refusal; one listener at a time; returns the unsubscriber. */
export function onStaleSignIn(listener: () => void): () => void {
  notifyStale = listener;
  return () => {
    notifyStale = undefined;
  };
}

/** Where the person signs in again, to come back to a place of the dashboard. */
export const signInAgainAt = (place: string): string =>
  `/auth/login?${new URLSearchParams({ again: 'true', return_to: place })}`;
