import { lazy, Suspense, useEffect, useState } from 'react';
import { onStaleSignIn } from '../../api/expired-session';

const StaleSignInDialog = lazy(() =>
  import('./stale-sign-in-dialog').then((module) => ({ default: module.StaleSignInDialog })),
);

/** Asks for a new sign-in after a change that needs a recent one. */
export function StaleSignIn() {
  // Other problems have no session, and the sign-in page tells them.
  const [isAsking, setIsAsking] = useState(() => location.search.includes('sign_in=stale'));
  useEffect(() => onStaleSignIn(() => setIsAsking(true)), []);
  return <Suspense>{isAsking && <StaleSignInDialog onClose={() => setIsAsking(false)} />}</Suspense>;
}
