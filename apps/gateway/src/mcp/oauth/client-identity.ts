import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { McpServer } from '@llm0/core/mcp/server';
import type { Db } from '@llm0/drizzle/client';
import { oauthClientRows, type StoredOauthClient } from '@llm0/drizzle/queries/mcp/grants';
import type { OAuthClientInformationMixed, OAuthClientMetadata } from '@modelcontextprotocol/client';
import type { OauthFetch } from './bounded-fetch';
import type { Issuer } from './discover-issuer';
import { loadOauth } from './library';

export interface IdentityOptions {
  readonly db: Db;
  readonly vault: SecretVault;
  /** Gateway URL for users' browsers, without a trailing slash. */
  readonly publicUrl: string;
}

/** The gateway's identity at an authorization server: registered by the operator, by metadata, or dynamically. */
export class ClientIdentity {
  readonly publicUrl: string;
  readonly redirectUrl: string;
  readonly documentUrl: string;

  constructor(private readonly options: IdentityOptions) {
    this.publicUrl = options.publicUrl;
    this.redirectUrl = `${this.publicUrl}/mcp/oauth/callback`;
    this.documentUrl = `${this.publicUrl}/mcp/oauth/client.json`;
  }

  /** The metadata document (client id metadata document; RFC 7591 for its fields). */
  metadata(): OAuthClientMetadata {
    return {
      client_name: 'llm0 gateway',
      client_uri: this.publicUrl,
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  async of(server: McpServer, issuer: Issuer, fetchFn: OauthFetch): Promise<OAuthClientInformationMixed> {
    const { clientId, clientSecret } = server.oauth;
    if (clientId !== null) return { client_id: clientId, client_secret: clientSecret };
    const { metadata } = issuer;
    const takesDocuments = metadata.client_id_metadata_document_supported === true;
    if (takesDocuments && this.publicUrl.startsWith('https:')) return { client_id: this.documentUrl };
    if (metadata.registration_endpoint !== undefined) return this.registered(server, issuer, fetchFn);
    const message = takesDocuments
      ? `${server.alias}: its authorization server reads the client's metadata document: PUBLIC_URL must be an https URL.`
      : `${server.alias}: register the gateway at ${issuer.url} with the redirect URL ${this.redirectUrl}, and set "client_id".`;
    throw new GatewayError('upstream_error', message);
  }

  private async registered(
    server: McpServer,
    { url: issuer, metadata }: Issuer,
    fetchFn: OauthFetch,
  ): Promise<OAuthClientInformationMixed> {
    const { db, vault } = this.options;
    const at = { serverId: server.id, issuer, redirectUrl: this.redirectUrl };
    const known = await oauthClientRows.get(db, at);
    const opened = known === null ? undefined : this.open(known);
    if (opened !== undefined) return opened;
    // Its encryption key is lost.
    if (known !== null) await oauthClientRows.delete(db, { id: known.id });
    const { registerClient } = await loadOauth();
    const client = await registerClient(issuer, { metadata, clientMetadata: this.metadata(), fetchFn });
    const id = crypto.randomUUID();
    const { bytes: encryptedClient, keyId: encryptionKeyId } = vault.seal(JSON.stringify(client), id);
    await oauthClientRows.createUnlessThere(db, { id, ...at, encryptedClient, encryptionKeyId });
    return client;
  }

  private open({ id, encryptedClient: bytes, encryptionKeyId: keyId }: StoredOauthClient) {
    try {
      return JSON.parse(this.options.vault.open({ bytes, keyId }, id)) as OAuthClientInformationMixed;
    } catch {
      return undefined;
    }
  }
}
