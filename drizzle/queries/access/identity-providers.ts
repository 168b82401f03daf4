import { and, asc, eq, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { identityProviders } from '../../schema/teams';
import { Rows, type Stored } from '../rows';

export type { GroupRole, TokenSettings } from '../../schema/teams';

/** Issuers of OpenID Connect. Their secrets are sealed, bound to the ids. */
export const identityProviderRows = new Rows(identityProviders);
export type StoredIdentityProvider = Stored<typeof identityProviderRows>;

/** Those in use, by name. */
export function listActiveIdentityProviders(db: Db): Promise<readonly StoredIdentityProvider[]> {
  return identityProviderRows.find(db, eq(identityProviders.isActive, true), asc(identityProviders.name));
}

type Settings = Pick<StoredIdentityProvider, 'name' | 'issuer' | 'clientId' | 'scopes' | 'groupsClaim'>;

/** Writes the provider of the environment; undefined turns the one of before off. `group_roles` stay. */
export async function putEnvironmentProvider(db: Db, settings: Settings | undefined): Promise<void> {
  const isOther = settings && sql`${identityProviders.issuer} <> ${settings.issuer}`;
  await db
    .update(identityProviders)
    .set({ isActive: false, isFromEnvironment: false })
    .where(and(eq(identityProviders.isFromEnvironment, true), isOther));
  if (settings === undefined) return;
  const fixed = { ...settings, isFromEnvironment: true, isActive: true, encryptedSecret: null, encryptionKeyId: null };
  await identityProviderRows.put(db, ['issuer'], fixed);
}
