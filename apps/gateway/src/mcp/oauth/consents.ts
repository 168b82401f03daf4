import { hashSecret } from '@llm0/core/keys/api-key';
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { McpServer } from '@llm0/core/mcp/server';
import type { Db } from '@llm0/drizzle/client';
import {
  consentRows,
  findTicket,
  forgetOldConsents,
  type GrantOwner,
  type StoredConsent,
  takeFlow,
} from '@llm0/drizzle/queries/mcp/grants';
import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { LRUCache } from 'lru-cache';
import type { OauthFetch } from './bounded-fetch';
import type { ClientIdentity } from './client-identity';
import type { ConsentLink } from './consent-needed';
import { discoverIssuer } from './discover-issuer';
import { endOf, type GrantKeeper } from './grant-keeper';
import { loadOauth } from './library';

/** State of a consent flow until the user returns. */
interface Flow {
  readonly issuerUrl: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly resource: string;
  readonly client: OAuthClientInformationMixed;
  readonly codeVerifier: string;
  /** The browser that began. */
  readonly browserHash: string;
}

export interface ConsentsOptions {
  readonly db: Db;
  readonly vault: SecretVault;
  readonly grants: GrantKeeper;
  readonly identity: ClientIdentity;
  readonly nowMs: () => number;
}

type HttpServer = McpServer & { readonly url: string };

const TICKET_MS = 15 * 60_000;
/** Time for which a repeated request gets the same link. */
const SAME_LINK_MS = 5 * 60_000;

/** Response of the authorization server. */
export interface Returned {
  readonly code: string;
  readonly state: string;
  readonly iss: string | undefined;
  readonly browser: string;
}

/** Links by which users let the gateway use a server in their name. */
export class Consents {
  private readonly links = new LRUCache<string, ConsentLink>({ max: 10_000, ttl: SAME_LINK_MS });

  constructor(private readonly options: ConsentsOptions) {}

  get redirectUrl(): string {
    return this.options.identity.redirectUrl;
  }

  async linkFor(server: McpServer, owner: GrantOwner, scope: string | undefined): Promise<ConsentLink> {
    const name = JSON.stringify([server.id, owner.apiKeyId, owner.customerId, scope]);
    const { db, identity, nowMs } = this.options;
    const known = this.links.get(name);
    // Another process may have ended its flow.
    if (known !== undefined && (await consentRows.get(db, { id: known.id })) !== null) return known;
    const ticket = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
    await forgetOldConsents(db);
    const { id } = await consentRows.create(db, {
      ...{ serverId: server.id, ...owner, scope: scope ?? null, ticketHash: hashSecret(ticket) },
      expiresAtMs: nowMs() + TICKET_MS,
    });
    const link = { id, url: `${identity.publicUrl}/mcp/oauth/start/${ticket}` };
    this.links.set(name, link);
    return link;
  }

  /** null where the ticket is none, or has ended. */
  find(ticket: string): Promise<StoredConsent | null> {
    return findTicket(this.options.db, hashSecret(ticket));
  }

  /** Consent URL of the user; the same `browser` must return. */
  async begin(consent: StoredConsent, server: HttpServer, fetchFn: OauthFetch, browser: string): Promise<URL> {
    const { db, vault, identity } = this.options;
    const issuer = await discoverIssuer(server, fetchFn);
    const client = await identity.of(server, issuer, fetchFn);
    const state = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
    const { metadata, resource, url } = issuer;
    const scope = consent.scope ?? server.oauth.scope ?? issuer.scopes;
    const asked = { metadata, clientInformation: client, redirectUrl: identity.redirectUrl, state, resource, scope };
    const { startAuthorization } = await loadOauth();
    const { authorizationUrl, codeVerifier } = await startAuthorization(url, asked);
    const flow: Flow = { issuerUrl: url, metadata, resource, client, codeVerifier, browserHash: hashSecret(browser) };
    const { bytes: encryptedFlow, keyId: encryptionKeyId } = vault.seal(JSON.stringify(flow), consent.id);
    const set = { stateHash: hashSecret(state), encryptedFlow, encryptionKeyId };
    await consentRows.update(db, { id: consent.id }, set);
    return authorizationUrl;
  }

  /** Takes the flow that a state belongs to: once, and for the browser that began it. null for any other. */
  async take({ state, browser }: Pick<Returned, 'state' | 'browser'>): Promise<TakenFlow | null> {
    const { db, vault } = this.options;
    const consent = await takeFlow(db, hashSecret(state));
    if (consent === null || consent.encryptedFlow === null || consent.encryptionKeyId === null) return null;
    const sealed = { bytes: consent.encryptedFlow, keyId: consent.encryptionKeyId };
    const flow = JSON.parse(vault.open(sealed, consent.id)) as Flow;
    return flow.browserHash === hashSecret(browser) ? { consent, flow } : null;
  }

  /** Exchanges the code after an issuer check (RFC 9207), and stores the grant. */
  async finish(
    { consent, flow }: TakenFlow,
    server: McpServer,
    { code, iss }: Pick<Returned, 'code' | 'iss'>,
    fetchFn: OauthFetch,
  ): Promise<void> {
    const { grants, identity, nowMs } = this.options;
    const { issuerUrl, metadata, resource, client, codeVerifier } = flow;
    const { exchangeAuthorization } = await loadOauth();
    const tokens = await exchangeAuthorization(issuerUrl, {
      ...{ metadata, clientInformation: client, authorizationCode: code, iss, codeVerifier, resource, fetchFn },
      redirectUri: identity.redirectUrl,
    });
    const { apiKeyId, customerId } = consent;
    const secrets = { tokens, client, issuerUrl, resource, ...endOf(tokens, nowMs()) };
    await grants.store(server, { apiKeyId, customerId }, secrets);
  }
}

export interface TakenFlow {
  readonly consent: StoredConsent;
  readonly flow: Flow;
}
