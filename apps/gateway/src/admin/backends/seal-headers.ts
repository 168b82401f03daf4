import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { StoredBackend } from '@llm0/drizzle/queries/routing/backends';

type Sealed = Pick<StoredBackend, 'encryptedHeaders' | 'encryptionKeyId' | 'headerNames'>;
type Given = Readonly<Record<string, string>> | null | undefined;

/** Headers for a row; they replace all existing ones. Empty if the body has none. */
export function sealBackendHeaders(vault: SecretVault, headers: Given, rowId: string): Partial<Sealed> {
  if (headers === undefined) return {};
  const names = Object.keys(headers ?? {});
  if (headers === null || names.length === 0) {
    return { encryptedHeaders: null, encryptionKeyId: null, headerNames: [] };
  }
  const { bytes: encryptedHeaders, keyId: encryptionKeyId } = vault.seal(JSON.stringify(headers), rowId);
  return { encryptedHeaders, encryptionKeyId, headerNames: names };
}
