import { hashSecret } from '@llm0/core/keys/api-key';
import { createUserSession } from '@llm0/drizzle/queries/access/admin-sessions';
import type { StoredIdentityProvider } from '@llm0/drizzle/queries/access/identity-providers';
import { setGroupRoles, signInUser } from '@llm0/drizzle/queries/access/users';
import { type Claims, groupRolesOf, textOf, whoIs } from '../../sign-on/claims';
import { CLOCK_TOLERANCE_S, loadClient } from '../../sign-on/issuers';
import { raiseVersions } from '../../sign-on/raise-versions';
import { userActor } from '../access/actors';
import { createSessionSecret, SESSION_SECONDS } from '../access/session-cookie';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import type { SignInFlow } from './sign-in-cookie';

type Client = Awaited<ReturnType<typeof loadClient>>;

/** Why a sign-in gave no session; the page has a sentence for each. */
export class SignInRefused extends Error {
  constructor(readonly reason: 'deactivated' | 'used' | 'stale') {
    super(reason);
  }
}

interface Finished extends Pick<AdminServices, 'db' | 'hotStore'> {
  readonly provider: StoredIdentityProvider;
  readonly flow: SignInFlow;
  readonly nowMs: number;
  readonly supported: readonly string[] | undefined;
}

/** Exchanges the code; throws for a wrong state, nonce, issuer, signature or audience. */
export async function askIssuer(
  configuration: Parameters<Client['authorizationCodeGrant']>[0],
  flow: SignInFlow,
  { search, groupsClaim }: { readonly search: string; readonly groupsClaim: string },
): Promise<Claims> {
  const client = await loadClient();
  const current = new URL(flow.redirectUri);
  current.search = search;
  const checks = { pkceCodeVerifier: flow.verifier, expectedState: flow.state, expectedNonce: flow.nonce };
  const tokens = await client.authorizationCodeGrant(configuration, current, { ...checks, idTokenExpected: true });
  const claims: Claims = { ...tokens.claims() };
  const isComplete = claims[groupsClaim] !== undefined && claims.email !== undefined;
  if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  // Many issuers leave groups and address to userinfo. What the signed token says counts first.
  return { ...(await client.fetchUserInfo(configuration, tokens.access_token, String(claims.sub))), ...claims };
}

/** An issuer that was asked to authenticate anew says so within a minute, and clocks differ. */
const FRESH_MS = 60_000 + CLOCK_TOLERANCE_S * 1000;

interface Asked {
  readonly isAgain: boolean;
  readonly nowMs: number;
  /** Claims that the issuer says it has. */
  readonly supported: readonly string[] | undefined;
}

/**
 * When the issuer authenticated the person; null = it doesn't say. The browser could have left out the request to sign in
 * again, so only the signed time counts; of issuers that know no such time, the sign-in itself.
 */
export function authenticatedAt({ auth_time: at }: Claims, { isAgain, nowMs, supported }: Asked): number | null {
  const givenMs = typeof at === 'number' ? Math.min(at * 1000, nowMs) : null;
  if (!isAgain) return givenMs;
  const isFresh = givenMs === null ? supported?.includes('auth_time') !== true : nowMs - givenMs <= FRESH_MS;
  if (!isFresh) throw new SignInRefused('stale');
  return givenMs ?? nowMs;
}

/** Makes the user at the first sign-in, sets the roles of the groups, and opens a session; returns its secret. */
export async function openSession(finished: Finished, claims: Claims): Promise<string> {
  const { db, hotStore, provider, flow, nowMs, supported } = finished;
  const authenticatedAtMs = authenticatedAt(claims, { isAgain: flow.isAgain, nowMs, supported });
  const { secret, hash: sessionHash } = createSessionSecret();
  const system = userActor({ id: '', name: String(claims.sub), email: textOf(claims.email), grants: [] });
  const raised = await recordChange(db, system, async (tx) => {
    const { user, isNew } = await signInUser(tx, whoIs(provider, claims, nowMs));
    if (!user.isActive) throw new SignInRefused('deactivated');
    const roles = groupRolesOf(provider, claims) ?? [];
    const result = await setGroupRoles(tx, user.id, { identityProviderId: provider.id, roles });
    const expiresAtMs = nowMs + SESSION_SECONDS * 1000;
    const opened = { userId: user.id, identityProviderId: provider.id, signInHash: hashSecret(flow.state) };
    if (!(await createUserSession(tx, { sessionHash, expiresAtMs, authenticatedAtMs, ...opened })))
      throw new SignInRefused('used');
    const after = { user_id: user.id, identity_provider: provider.name, is_new: isNew, roles };
    return { result, action: 'sign_in', resource: 'session', resourceId: null, after };
  });
  await raiseVersions(hotStore, raised);
  return secret;
}
