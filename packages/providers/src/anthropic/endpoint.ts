import type { ProviderConnection, UpstreamRequest } from '../provider';

const API_VERSION = '2023-06-01';

/** Where messages go and how they authenticate. `baseUrl` is the host's root; one that ends in `/v1` is taken too. */
export function messagesEndpoint(
  connection: ProviderConnection,
  betas: readonly string[],
): Pick<UpstreamRequest, 'url' | 'method' | 'headers'> {
  const root = connection.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  return {
    url: `${root}/v1/messages`,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // A compressed stream is held back until a block is full, which delays the first tokens.
      'accept-encoding': 'identity',
      'anthropic-version': API_VERSION,
      ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
      ...(connection.apiKey === undefined ? {} : { 'x-api-key': connection.apiKey }),
      ...connection.headers,
    },
  };
}
