import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

export const API_VERSION = '2023-06-01';

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
      ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
      ...(connection.apiKey === undefined ? {} : { 'x-api-key': connection.apiKey }),
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
