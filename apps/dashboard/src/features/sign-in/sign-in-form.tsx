import { useState } from 'react';
import { useSignIn } from '../../api/session';
import { Button } from '../../ui/button';
import { TextField } from '../../ui/field';

export function SignInForm() {
  const [token, setToken] = useState('');
  const signIn = useSignIn();
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate(token.trim());
      }}
    >
      {/* Lets password managers keep the token under a name. */}
      <input type="text" name="username" autoComplete="username" value="admin" readOnly hidden />
      <TextField
        label="Admin token"
        type="password"
        name="token"
        autoComplete="current-password"
        placeholder="llm0_admin_…"
        required
        value={token}
        error={signIn.error?.message ?? null}
        onChange={(event) => setToken(event.target.value)}
      />
      <Button type="submit" kind="primary" disabled={token.trim() === '' || signIn.isPending}>
        {signIn.isPending ? 'Signing in' : 'Sign in'}
      </Button>
    </form>
  );
}
