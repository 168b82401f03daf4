// The authorization server away: each call that needs a token fails, and the next one asks again.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { McpServer } from '@llm0/core/mcp/server';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import type { Credentials } from '../upstream/credentials';
import type { OauthFetch } from './bounded-fetch';
import { discoverIssuer } from './discover-issuer';
import { loadOauth } from './library';

/** Before it ends, so that none ends on its way. */
const EARLY_MS = 30_000;
const USUAL_MS = 3_600_000;

interface Token {
  readonly accessToken: string;
  readonly untilMs: number;
}

/** The gateway's own token for a server (`client_credentials`), shared by all callers; in memory only. */
export class ClientCredentials implements Credentials {
  private token: Token | undefined;
  private asking: Promise<Token> | undefined;
  private metadataUrl: URL | undefined;
  private scope: string | undefined;

  constructor(
    private readonly server: McpServer & { readonly url: string },
    private readonly fetchFn: OauthFetch,
    private readonly monotonicMs: () => number,
  ) {
    this.scope = server.oauth.scope ?? undefined;
  }

  headers(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>> {
    const { token } = this;
    if (token !== undefined && token.untilMs > this.monotonicMs()) return this.headersWith(token);
    this.asking ??= this.ask().finally(() => {
      this.asking = undefined;
    });
    return this.asking.then((fresh) => this.headersWith(fresh));
  }

  async refused(response: Response): Promise<boolean> {
    const { extractWWWAuthenticateParams } = await loadOauth();
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    this.metadataUrl = resourceMetadataUrl ?? this.metadataUrl;
    const wantsMore = scope !== undefined && scope !== this.scope && this.server.oauth.scope === null;
    if (response.status === 403 && !wantsMore) return false;
    if (wantsMore) this.scope = scope;
    this.token = undefined;
    return true;
  }

  private headersWith({ accessToken }: Token): Readonly<Record<string, string>> {
    return { ...this.server.headers, authorization: `Bearer ${accessToken}` };
  }

  private async ask(): Promise<Token> {
    const { server, fetchFn } = this;
    const issuer = await discoverIssuer(server, fetchFn, this.metadataUrl);
    const { metadata, resource } = issuer;
    const options = { metadata, resource, scope: this.scope ?? issuer.scopes, fetchFn };
    const { fetchToken } = await loadOauth();
    const tokens = await fetchToken(this.provider(), issuer.url, options).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message.slice(0, 300) : 'it was refused';
      throw new GatewayError('upstream_error', `${server.alias}: no token could be got for it: ${why}`, { cause });
    });
    const lastsMs = tokens.expires_in === undefined ? USUAL_MS : tokens.expires_in * 1000;
    this.token = {
      accessToken: tokens.access_token,
      untilMs: this.monotonicMs() + Math.max(lastsMs / 2, lastsMs - EARLY_MS),
    };
    return this.token;
  }

  private provider(): OAuthClientProvider {
    const { clientId, clientSecret } = this.server.oauth;
    const never = () => {
      throw new GatewayError('internal', "The gateway's own token needs no consent.");
    };
    return {
      redirectUrl: undefined,
      clientMetadata: { redirect_uris: [], grant_types: ['client_credentials'] },
      clientInformation: () => ({ client_id: clientId ?? '', client_secret: clientSecret }),
      prepareTokenRequest: (scope) =>
        new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
      tokens: () => undefined,
      saveTokens: () => {},
      redirectToAuthorization: never,
      saveCodeVerifier: () => {},
      codeVerifier: never,
    };
  }
}
