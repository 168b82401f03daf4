import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

export const API_VERSION = '2023-06-01';

/** Where messages go and how they authenticate. `baseUrl` is the host's root; one that ends in `/v1` is taken too. */
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
      ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
      ...(connection.apiKey === undefined ? {} : { 'x-api-key': connection.apiKey }),
    }),
  };
}

/** The list of models: costs nothing, and tells whether the key is good. */
export function probeEndpoint(connection: ProviderConnection): Omit<Endpoint, 'method'> {
  return { url: `${rootOf(connection)}/v1/models?limit=1`, headers: messagesEndpoint(connection, []).headers };
}

/** The host's root. */
export function rootOf({ baseUrl }: ProviderConnection): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
}
