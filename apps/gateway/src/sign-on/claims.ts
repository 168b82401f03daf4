import type { StoredIdentityProvider } from '@llm0/drizzle/queries/access/identity-providers';
import type { SignedIn } from '@llm0/drizzle/queries/access/users';

const MAX_NAME = 200;

export type Claims = Readonly<Record<string, unknown>>;

export function whoIs({ issuer }: StoredIdentityProvider, claims: Claims, atMs: number): SignedIn {
  const email = textOf(claims.email);
  // Entra's subjects differ by application; `oid` is the id that its directory sends by SCIM.
  const directoryId = textOf(claims.oid);
  const name = textOf(claims.name) ?? textOf(claims.preferred_username);
  const isEmailVerified = claims.email_verified === true;
  return { issuer, subject: String(claims.sub), directoryId, email, isEmailVerified, name, atMs };
}

export const textOf = (claim: unknown): string | null =>
  typeof claim === 'string' && claim !== '' ? claim.replaceAll('\0', '').slice(0, MAX_NAME) : null;

/** The roles that the groups of somebody give; undefined for a token without groups, which takes none away. */
export function groupRolesOf({ groupsClaim, groupRoles }: StoredIdentityProvider, claims: Claims) {
  if (claims[groupsClaim] === undefined) return undefined;
  // A list of names, or one.
  const groups = new Set([claims[groupsClaim]].flat());
  return groupRoles.filter(({ group }) => groups.has(group));
}
