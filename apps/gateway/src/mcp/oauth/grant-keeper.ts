// Postgres unreachable: tokens that this process knows serve until they end. A grant taken away counts within two seconds.
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { McpServer } from '@llm0/core/mcp/server';
import type { Db } from '@llm0/drizzle/client';
import {
  findGrant,
  type GrantOwner,
  grantRows,
  replaceTokens,
  type StoredGrant,
} from '@llm0/drizzle/queries/mcp/grants';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/client';
import { LRUCache } from 'lru-cache';
import type { OauthFetch } from './bounded-fetch';
import { loadOauth } from './library';

/** Encrypted part of a grant. */
export interface GrantSecrets {
  readonly tokens: OAuthTokens;
  /** Epoch milliseconds; absent = unknown. */
  readonly expiresAtMs?: number;
  readonly client: OAuthClientInformationMixed;
  readonly issuerUrl: string;
  readonly resource: string;
}

export interface GrantKeeperOptions {
  readonly db: Db;
  readonly vault: SecretVault;
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
}

interface Kept {
  readonly grant: StoredGrant;
  readonly secrets: GrantSecrets;
  readonly readMs: number;
}

const MAX_KEPT = 10_000;
const REREAD_MS = 2000;
const EARLY_MS = 30_000;

/** Tokens that users let the gateway have, by server and owner. */
export class GrantKeeper {
  private readonly kept = new LRUCache<string, Kept>({ max: MAX_KEPT });
  private readonly refreshing = new Map<string, Promise<GrantSecrets | undefined>>();

  constructor(private readonly options: GrantKeeperOptions) {}

  /** A valid token, refreshed if expired; undefined without consent. */
  async accessToken(server: McpServer, owner: GrantOwner, fetchFn: OauthFetch): Promise<string | undefined> {
    const known = await this.find(server, owner);
    if (known === undefined) return undefined;
    const { expiresAtMs, tokens } = known.secrets;
    const hasEnded = expiresAtMs !== undefined && expiresAtMs - EARLY_MS < this.options.nowMs();
    if (!hasEnded) return tokens.access_token;
    return (await this.refresh(server, owner, { known, fetchFn }))?.tokens.access_token;
  }

  /** The server refused the token. True if there is a new one. */
  async renew(server: McpServer, owner: GrantOwner, refused: string, fetchFn: OauthFetch): Promise<boolean> {
    this.kept.delete(nameOf(server, owner));
    const known = await this.find(server, owner);
    if (known === undefined) return false;
    if (known.secrets.tokens.access_token !== refused) return true;
    return (await this.refresh(server, owner, { known, fetchFn })) !== undefined;
  }

  /** Stores a user's new grant. */
  async store(server: McpServer, owner: GrantOwner, secrets: GrantSecrets): Promise<void> {
    const { db, vault } = this.options;
    const found = await findGrant(db, server.id, owner);
    const id = found?.issuer === secrets.issuerUrl ? found.id : crypto.randomUUID();
    const { bytes: encryptedTokens, keyId: encryptionKeyId } = vault.seal(JSON.stringify(secrets), id);
    const set = { encryptedTokens, encryptionKeyId, scope: secrets.tokens.scope ?? null };
    if (found?.id === id) await grantRows.update(db, { id }, set);
    else await grantRows.create(db, { id, serverId: server.id, ...owner, issuer: secrets.issuerUrl, ...set });
    this.kept.delete(nameOf(server, owner));
  }

  private async find(server: McpServer, owner: GrantOwner): Promise<Kept | undefined> {
    const name = nameOf(server, owner);
    const nowMs = this.options.monotonicMs();
    const known = this.kept.get(name);
    if (known !== undefined && nowMs - known.readMs < REREAD_MS) return known;
    const grant = await findGrant(this.options.db, server.id, owner).catch((error: unknown) => {
      if (known === undefined) throw error;
      return known.grant;
    });
    const secrets = grant === null ? undefined : this.open(grant);
    if (grant === null || secrets === undefined) {
      this.kept.delete(name);
      return undefined;
    }
    const fresh = { grant, secrets, readMs: nowMs };
    this.kept.set(name, fresh);
    return fresh;
  }

  /** Sealed with another key it is as if it were not there: consent is asked for again. */
  private open({ encryptedTokens: bytes, encryptionKeyId: keyId, id }: StoredGrant): GrantSecrets | undefined {
    try {
      return JSON.parse(this.options.vault.open({ bytes, keyId }, id)) as GrantSecrets;
    } catch {
      return undefined;
    }
  }

  private refresh(
    server: McpServer,
    owner: GrantOwner,
    what: { readonly known: Kept; readonly fetchFn: OauthFetch },
  ): Promise<GrantSecrets | undefined> {
    const name = nameOf(server, owner);
    const under = this.refreshing.get(name) ?? this.refreshNow(name, what);
    this.refreshing.set(name, under);
    return under.finally(() => this.refreshing.delete(name));
  }

  private async refreshNow(
    name: string,
    { known, fetchFn }: { readonly known: Kept; readonly fetchFn: OauthFetch },
  ): Promise<GrantSecrets | undefined> {
    const { grant, secrets } = known;
    const { tokens: before, client: clientInformation, issuerUrl, resource } = secrets;
    const { db, vault, nowMs } = this.options;
    this.kept.delete(name);
    if (before.refresh_token === undefined) return undefined;
    const { OAuthError, discoverAuthorizationServerMetadata, refreshAuthorization } = await loadOauth();
    const metadata = await discoverAuthorizationServerMetadata(issuerUrl, { fetchFn });
    const asked = { metadata, clientInformation, refreshToken: before.refresh_token, resource, fetchFn };
    const tokens = await refreshAuthorization(issuerUrl, asked).catch((error: unknown) => {
      if (error instanceof OAuthError) return undefined;
      throw error;
    });
    if (tokens === undefined) return this.afterRefusal(grant);
    const fresh: GrantSecrets = { ...secrets, tokens, ...endOf(tokens, nowMs()) };
    const { bytes: encryptedTokens, keyId: encryptionKeyId } = vault.seal(JSON.stringify(fresh), grant.id);
    await replaceTokens(db, grant, { encryptedTokens, encryptionKeyId, scope: tokens.scope ?? grant.scope });
    return fresh;
  }

  /** Another process may have been quicker, and have used the only token for refreshing. */
  private async afterRefusal(grant: StoredGrant): Promise<GrantSecrets | undefined> {
    const now = await grantRows.get(this.options.db, { id: grant.id });
    if (now === null || Buffer.from(now.encryptedTokens).equals(Buffer.from(grant.encryptedTokens))) return undefined;
    return this.open(now);
  }
}

/** `expiresAtMs` if the token has a lifetime. */
export const endOf = ({ expires_in: seconds }: OAuthTokens, nowMs: number): { readonly expiresAtMs?: number } =>
  seconds === undefined ? { expiresAtMs: undefined } : { expiresAtMs: nowMs + seconds * 1000 };

const nameOf = ({ id }: Pick<McpServer, 'id'>, { apiKeyId, customerId }: GrantOwner): string =>
  `${id} ${apiKeyId} ${customerId}`;
