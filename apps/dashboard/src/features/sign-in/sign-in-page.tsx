import { useSignInChoices } from '../../api/session';
import { SignInForm } from './sign-in-form';
import { signInProblem } from './sign-in-problem';

/** Read once: the router tidies the address. */
const PROBLEM = signInProblem(globalThis.location?.search ?? '');

export function SignInPage() {
  const { data: choices, isPending } = useSignInChoices();
  const hasProviders = (choices?.data.length ?? 0) > 0;
  if (isPending) return null;
  return (
    <main className="flex min-h-dvh items-center justify-center px-4">
      <div className="w-full max-w-sm rounded-xl border bg-panel p-6">
        <div className="mb-5 flex items-center gap-2.5">
          <img src="/icon.svg" alt="" width="24" height="24" />
          <h1 className="text-lg font-semibold tracking-tight">LLM0 Gateway</h1>
        </div>
        {PROBLEM !== null && (
          <p role="alert" className="mb-4 rounded-md border border-bad bg-bad-soft px-3 py-2 text-sm">
            {PROBLEM}
          </p>
        )}
        <SignInForm />
        {!hasProviders && (
          <p className="mt-4 text-xs text-muted">
            The token was printed when the gateway first started, or is the{' '}
            <code className="font-mono">ADMIN_TOKEN</code> in its environment. API keys do not work here.
          </p>
        )}
      </div>
    </main>
  );
}
