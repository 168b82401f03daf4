import { SignInForm } from './sign-in-form';

export function SignInPage() {
  return (
    <main className="flex min-h-dvh items-center justify-center px-4">
      <div className="w-full max-w-sm rounded-xl border bg-panel p-6">
        <div className="mb-5 flex items-center gap-2.5">
          <img src="/icon.svg" alt="" width="24" height="24" />
          <h1 className="text-lg font-semibold tracking-tight">LLM0 Gateway</h1>
        </div>
        <SignInForm />
        <p className="mt-4 text-xs text-muted">
          The token was printed when the gateway first started, or is the <code className="font-mono">ADMIN_TOKEN</code>{' '}
          in its environment. API keys do not work here.
        </p>
      </div>
    </main>
  );
}
