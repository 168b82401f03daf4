import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

export const API_VERSION = '2023-06-01';

/** Prefix of access tokens, which workload identities get in place of keys. */
const TOKEN_PREFIX = 'sk-ant-oat';
const TOKEN_BETA = 'oauth-2025-04-20';

/** Headers of a key or access token; the latter needs a beta beside the request's. */
export function keyHeaders(
  { apiKey }: Pick<ProviderConnection, 'apiKey'>,
  betas: readonly string[],
): Record<string, string> {
  const isToken = apiKey?.startsWith(TOKEN_PREFIX) === true;
  const all = isToken ? [...betas, TOKEN_BETA] : betas;
  const key: Record<string, string> = isToken
    ? { authorization: `Bearer ${apiKey}` }
    : apiKey === undefined
      ? {}
      : { 'x-api-key': apiKey };
  return all.length === 0 ? key : { 'anthropic-beta': all.join(','), ...key };
}

/** URL and authentication of messages. `baseUrl` is the host's root, with or without `/v1`. */
export function messagesEndpoint(
  connection: ProviderConnection,
  betas: readonly string[],
  path: '/v1/messages' | '/v1/messages/count_tokens' = '/v1/messages',
): Endpoint {
  return {
    url: `${rootOf(connection)}${path}`,
    method: 'POST',
    headers: jsonHeaders(connection, {
      'anthropic-version': API_VERSION,
      ...keyHeaders(connection, betas),
    }),
  };
}

/** The free list of models, which shows if the key is valid. */
export function probeEndpoint(connection: ProviderConnection): Omit<Endpoint, 'method'> {
  return { url: `${rootOf(connection)}/v1/models?limit=1`, headers: messagesEndpoint(connection, []).headers };
}

/** The host's root. */
export function rootOf({ baseUrl }: ProviderConnection): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
}
