/** Words of the address, as the gateway writes them after a sign-in without a session. */
const PROBLEMS: Readonly<Record<string, (provider: string) => string>> = {
  unreachable: (provider) => `${provider} can't be reached. Try again; open sessions go on.`,
  misconfigured: (provider) =>
    `${provider} answers, but not as an OpenID Connect issuer. Ask an admin to check its address.`,
  expired: () => 'This sign-in took too long or began in another browser. Sign in again.',
  denied: (provider) => `${provider} refused the sign-in, or you cancelled it.`,
  refused: (provider) => `The answer of ${provider} is not valid. Sign in again, or ask an admin to read the log.`,
  stale: (provider) => `${provider} did not ask you to sign in again. Sign out there, or ask an admin.`,
  used: () => 'This sign-in was used already. Sign in again.',
  deactivated: () => 'Your account is deactivated. Ask an admin to activate it.',
  unknown_provider: () => 'This identity provider is unknown or turned off. Choose another one.',
};
const LONGEST_NAME = 100;

/** The problem of the last sign-in, in a sentence; null without one. */
export function signInProblem(search: string): string | null {
  const asked = new URLSearchParams(search);
  const provider = asked.get('provider')?.slice(0, LONGEST_NAME) || 'The identity provider';
  const word = asked.get('sign_in') ?? '';
  return Object.hasOwn(PROBLEMS, word) ? (PROBLEMS[word]?.(provider) ?? null) : null;
}
