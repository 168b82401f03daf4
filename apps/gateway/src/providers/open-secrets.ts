import type { SealedSecret, SecretVault } from '@llm0/core/keys/secret-vault';
import type { StoredProviderKey } from '@llm0/drizzle/queries/routing/provider-keys';
import type { StoredProvider } from '@llm0/drizzle/queries/routing/providers';
import type { Logger } from 'pino';

/** Opens stored secrets. Warns once of those that can't be decrypted, not at every refresh. */
export class SecretOpener {
  private readonly unreadable = new Set<string>();

  constructor(
    private readonly vault: SecretVault,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** True for a key that can't be decrypted. */
  isUnreadable(keyId: string): boolean {
    return this.unreadable.has(keyId);
  }

  key(key: StoredProviderKey): string | undefined {
    const sealed = { keyId: key.encryptionKeyId, bytes: key.encryptedKey };
    return this.open(sealed, key.id, { provider: key.provider, key: key.name });
  }

  headers({ encryptedHeaders: bytes, encryptionKeyId: keyId, id, name }: StoredProvider) {
    const text = bytes === null || keyId === null ? undefined : this.open({ keyId, bytes }, id, { provider: name });
    if (text === undefined) return undefined;
    // Lower case, so that they replace headers of requests.
    const headers = Object.entries(JSON.parse(text) as Record<string, string>);
    return Object.fromEntries(headers.map(([header, value]) => [header.toLowerCase(), value]));
  }

  private open(sealed: SealedSecret, id: string, what: object): string | undefined {
    try {
      const secret = this.vault.open(sealed, id);
      this.unreadable.delete(id);
      return secret;
    } catch {
      if (!this.unreadable.has(id)) {
        this.log.warn(what, 'a stored secret cannot be opened: ENCRYPTION_KEY is missing or another one');
      }
      this.unreadable.add(id);
      return undefined;
    }
  }
}
