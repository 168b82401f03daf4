import { useEffect, useState } from 'react';
import { onStaleSignIn, signInAgainAt } from '../../api/expired-session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { signInProblem } from '../sign-in/sign-in-problem';

const NEEDED = 'This change needs a recent sign-in. Sign in again: you come back to this page, and can repeat it.';

/** Other problems have no session, and the sign-in page tells them. */
const staleProblem = () => (location.search.includes('sign_in=stale') ? signInProblem(location.search) : null);

/** Asks for a new sign-in after a change that needs a recent one, and tells why the last one was not enough. */
export function StaleSignIn() {
  const [reason, setReason] = useState<string | null>(staleProblem);
  useEffect(() => onStaleSignIn(() => setReason(NEEDED)), []);
  const close = () => setReason(null);
  const { pathname, search } = location;
  // A former problem must not come back with the person.
  const place = search.includes('sign_in=') ? pathname : `${pathname}${search}`;
  return (
    <Dialog title="Sign in again" description={reason ?? NEEDED} open={reason !== null} onClose={close}>
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" onClick={() => location.assign(signInAgainAt(place))}>
          Sign in again
        </Button>
      </div>
    </Dialog>
  );
}
