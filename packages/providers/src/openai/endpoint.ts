import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

/** URL and authentication by kind of request. `baseUrl` ends in `/v1`. */
export function endpointOf(
  connection: ProviderConnection,
  path: 'chat/completions' | 'responses' | 'embeddings' | 'moderations',
): Endpoint {
  return { url: `${connection.baseUrl}/${path}`, method: 'POST', headers: requestHeaders(connection) };
}

/** URL of the upstream's model list. */
export function modelsEndpoint(connection: ProviderConnection): Omit<Endpoint, 'method'> {
  return { url: `${connection.baseUrl}/models`, headers: requestHeaders(connection) };
}

function requestHeaders(connection: ProviderConnection): Record<string, string> {
  return jsonHeaders(connection, keyHeaders(connection));
}

export function keyHeaders({ apiKey }: ProviderConnection): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
