import { useState } from 'react';
import { useSignIn } from '../../api/session';
import { Button } from '../../ui/button';
import { Form, TextField } from '../../ui/form';

export function SignInForm() {
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
