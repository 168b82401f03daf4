import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

/** URL and authentication by kind of request. */
export function endpointOf(connection: ProviderConnection, path: 'chat' | 'embed' | 'rerank'): Endpoint {
  return { url: `${rootOf(connection)}/v2/${path}`, method: 'POST', headers: requestHeaders(connection) };
}

/** The free list of models, which shows if the key is valid. */
export function probeEndpoint(connection: ProviderConnection): Omit<Endpoint, 'method'> {
  return { url: `${rootOf(connection)}/v1/models?page_size=1`, headers: requestHeaders(connection) };
}

/** The host's root, also by the base URL of the vendor's other APIs. */
export function rootOf({ baseUrl }: ProviderConnection): string {
  return baseUrl.replace(/\/+$/, '').replace(/(?:\/compatibility)?\/v[12]$/, '');
}

function requestHeaders(connection: ProviderConnection): Record<string, string> {
  return jsonHeaders(connection, keyHeaders(connection));
}

export function keyHeaders({ apiKey }: ProviderConnection): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
