import { signInAgainAt } from '../../api/expired-session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { signInProblem } from '../sign-in/sign-in-problem';

const NEEDED = 'This change needs a recent sign-in. Sign in again: you come back to this page, and can repeat it.';

/** Asks for a new sign-in, and tells why the last one was not enough. */
export function StaleSignInDialog({ onClose }: { readonly onClose: () => void }) {
  const { pathname, search } = location;
  const isProblem = search.includes('sign_in=stale');
  // A former problem must not come back with the person.
  const place = search.includes('sign_in=') ? pathname : `${pathname}${search}`;
  return (
    <Dialog
      title="Sign in again"
      description={(isProblem ? signInProblem(search) : null) ?? NEEDED}
      open
      onClose={onClose}
    >
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" onClick={() => location.assign(signInAgainAt(place))}>
          Sign in again
        </Button>
      </div>
    </Dialog>
  );
}
