import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { StoredProviderKey } from '@llm0/drizzle/queries/routing/provider-keys';
import type { StoredProvider } from '@llm0/drizzle/queries/routing/providers';

const SHOWN_CHARACTERS = 4;
const MIN_HIDDEN_CHARACTERS = 12;

/** Seals a provider's key for its row, with a suffix for recognition. */
export function sealKey(
  vault: SecretVault,
  secret: string,
  rowId: string,
): Pick<StoredProviderKey, 'encryptedKey' | 'encryptionKeyId' | 'lastCharacters'> {
  // A short secret stays hidden: four characters would reveal too much of it.
  const isLong = secret.length >= SHOWN_CHARACTERS + MIN_HIDDEN_CHARACTERS;
  const { bytes: encryptedKey, keyId: encryptionKeyId } = vault.seal(secret, rowId);
  return { encryptedKey, encryptionKeyId, lastCharacters: isLong ? secret.slice(-SHOWN_CHARACTERS) : '' };
}

/** Headers, which may hold secrets, sealed as a whole; their names stay readable. */
export function sealHeaders(
  vault: SecretVault,
  headers: Readonly<Record<string, string>> | null | undefined,
  rowId: string,
): Pick<StoredProvider, 'encryptedHeaders' | 'encryptionKeyId' | 'headerNames'> {
  const headerNames = Object.keys(headers ?? {});
  if (headerNames.length === 0) return { encryptedHeaders: null, encryptionKeyId: null, headerNames };
  const { bytes: encryptedHeaders, keyId: encryptionKeyId } = vault.seal(JSON.stringify(headers), rowId);
  return { encryptedHeaders, encryptionKeyId, headerNames };
}
