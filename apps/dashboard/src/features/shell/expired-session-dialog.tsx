import { Dialog } from '../../ui/dialog';
import { SignInForm } from '../sign-in/sign-in-form';

/** An expired session: signing in resumes the work. */
export function ExpiredSessionDialog() {
  return (
    <Dialog title="Your session has ended" description="Sign in again. Nothing you typed is lost." sticky>
      <SignInForm />
    </Dialog>
  );
}
