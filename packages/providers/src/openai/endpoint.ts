import { jsonHeaders, type ProviderConnection, type UpstreamRequest } from '../provider-request';

/** Where chat requests go and how they authenticate. `baseUrl` ends in `/v1`. */
export function chatEndpoint(connection: ProviderConnection): Pick<UpstreamRequest, 'url' | 'method' | 'headers'> {
  return { url: `${connection.baseUrl}/chat/completions`, method: 'POST', headers: requestHeaders(connection) };
}

/** Where requests in the vendor's newer format go. */
export function responsesEndpoint(connection: ProviderConnection): Pick<UpstreamRequest, 'url' | 'method' | 'headers'> {
  return { url: `${connection.baseUrl}/responses`, method: 'POST', headers: requestHeaders(connection) };
}

/** Where embeddings are made. */
export function embeddingsEndpoint(
  connection: ProviderConnection,
): Pick<UpstreamRequest, 'url' | 'method' | 'headers'> {
  return { url: `${connection.baseUrl}/embeddings`, method: 'POST', headers: requestHeaders(connection) };
}

/** Where the upstream lists its models. */
export function modelsEndpoint(connection: ProviderConnection): Pick<UpstreamRequest, 'url' | 'headers'> {
  return { url: `${connection.baseUrl}/models`, headers: requestHeaders(connection) };
}

function requestHeaders(connection: ProviderConnection): Record<string, string> {
  const { apiKey } = connection;
  return jsonHeaders(connection, apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` });
}
