import { useState } from 'react';
import { useSignIn, useSignInChoices } from '../../api/session';
import { Button } from '../../ui/button';
import { Form, TextField } from '../../ui/form';

function TokenForm() {
  const [token, setToken] = useState('');
  const signIn = useSignIn();
  return (
    <Form onSubmit={() => signIn.mutate(token.trim())}>
      {/* Lets password managers store the token under a name. */}
      <input type="text" name="username" autoComplete="username" value="admin" readOnly hidden />
      <TextField
        label="Admin token"
        type="password"
        name="token"
        autoComplete="current-password"
        placeholder="llm0_admin_…"
        required
        autoFocus
        value={token}
        error={signIn.error?.message ?? null}
        onValue={setToken}
      />
      <Button type="submit" kind="primary" disabled={token.trim() === '' || signIn.isPending}>
        {signIn.isPending ? 'Signing in' : 'Sign in'}
      </Button>
    </Form>
  );
}

/** A button for each identity provider, and the admin token unless a provider is required. */
export function SignInForm() {
  const { data: choices } = useSignInChoices();
  if (choices === undefined || choices.data.length === 0) return <TokenForm />;
  const here = `${location.pathname}${location.search}`;
  return (
    <div className="flex flex-col gap-2">
      {choices.data.map(({ id, name }) => (
        <a
          key={id}
          href={`/auth/login?${new URLSearchParams({ provider: id, return_to: here })}`}
          className="flex h-9 items-center justify-center rounded-md bg-accent px-3 font-medium text-accent-text hover:opacity-90"
        >
          Sign in with {name}
        </a>
      ))}
      {!choices.is_required && (
        <details className="mt-2">
          <summary className="mb-3 text-xs text-muted">Use an admin token</summary>
          <TokenForm />
        </details>
      )}
    </div>
  );
}
