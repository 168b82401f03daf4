import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { McpServer } from '@llm0/core/mcp/server';
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import type { OauthFetch } from './bounded-fetch';
import { loadOauth } from './library';

/** Authorization server and scope of a server. */
export interface Issuer {
  readonly url: string;
  readonly metadata: AuthorizationServerMetadata;
  /** Resource indicator of each token request (RFC 8707). */
  readonly resource: string;
  /** Capabilities that the server may request. */
  readonly scopes: string | undefined;
}

/** RFC 9728 and RFC 8414. Throws `upstream_error` if the server names no issuer or a foreign resource. */
export async function discoverIssuer(
  { url, alias }: Pick<McpServer, 'alias'> & { readonly url: string },
  fetchFn: OauthFetch,
  resourceMetadataUrl?: URL,
): Promise<Issuer> {
  const { discoverOAuthServerInfo } = await loadOauth();
  const found = await discoverOAuthServerInfo(url, { fetchFn, resourceMetadataUrl }).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message.slice(0, 300) : 'its metadata cannot be read';
    throw new GatewayError('upstream_error', `${alias}: who gives tokens for it cannot be found: ${why}`, { cause });
  });
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
  if (metadata === undefined) {
    throw new GatewayError('upstream_error', `${alias}: ${authorizationServerUrl} doesn't declare its token endpoint.`);
  }
  const resource = resourceMetadata?.resource ?? withoutFragment(url);
  if (!covers(resource, url)) {
    throw new GatewayError(
      'upstream_error',
      `${alias}: it names another resource (${resource.slice(0, 200)}) than its own.`,
    );
  }
  return { url: authorizationServerUrl, metadata, resource, scopes: resourceMetadata?.scopes_supported?.join(' ') };
}

function withoutFragment(url: string): string {
  const plain = new URL(url);
  plain.hash = '';
  return plain.href;
}

/** Tokens for a server are never asked for in another one's name. */
function covers(resource: string, url: string): boolean {
  const [wide, narrow] = [URL.parse(resource), new URL(url)];
  if (wide === null || wide.origin !== narrow.origin) return false;
  const path = wide.pathname.endsWith('/') ? wide.pathname : `${wide.pathname}/`;
  return `${narrow.pathname}/`.startsWith(path);
}
