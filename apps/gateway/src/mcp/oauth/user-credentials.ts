import type { McpServer } from '@llm0/core/mcp/server';
import type { GrantOwner } from '@llm0/drizzle/queries/mcp/grants';
import type { Credentials } from '../upstream/credentials';
import type { OauthFetch } from './bounded-fetch';
import { ConsentNeeded } from './consent-needed';
import type { Consents } from './consents';
import type { GrantKeeper } from './grant-keeper';
import { loadOauth } from './library';

export interface UserCredentialsOptions {
  readonly server: McpServer & { readonly url: string };
  readonly owner: GrantOwner;
  readonly fetchFn: OauthFetch;
  readonly grants: GrantKeeper;
  readonly consents: Consents;
}

/** A user's grant at a server. Without it, calls return the consent link. */
export class UserCredentials implements Credentials {
  private sent = '';
  private scope: string | undefined;

  constructor(private readonly options: UserCredentialsOptions) {
    this.scope = options.server.oauth.scope ?? undefined;
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const { server, owner, fetchFn, grants } = this.options;
    const token = await grants.accessToken(server, owner, fetchFn);
    if (token === undefined) throw await this.needed();
    this.sent = token;
    return { ...server.headers, authorization: `Bearer ${token}` };
  }

  async refused(response: Response): Promise<boolean> {
    const { server, owner, fetchFn, grants } = this.options;
    const { computeScopeUnion, extractWWWAuthenticateParams } = await loadOauth();
    const { scope, error } = extractWWWAuthenticateParams(response);
    if (response.status === 403) {
      if (error !== 'insufficient_scope') return false;
      this.scope = computeScopeUnion(this.scope, scope);
      throw await this.needed();
    }
    if (await grants.renew(server, owner, this.sent, fetchFn)) return true;
    throw await this.needed();
  }

  private async needed(): Promise<ConsentNeeded> {
    const { server, owner, consents } = this.options;
    return new ConsentNeeded(server.alias, await consents.linkFor(server, owner, this.scope));
  }
}
