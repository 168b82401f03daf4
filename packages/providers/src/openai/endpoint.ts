import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

type Path =
  | 'chat/completions'
  | 'responses'
  | 'embeddings'
  | 'moderations'
  | 'decisions'
  | 'rerank'
  | 'images/generations'
  | 'images/edits'
  | 'audio/transcriptions'
  | 'audio/translations'
  | 'audio/speech';

/** By connection, which a changed key or setting replaces. */
const ENDPOINTS = new WeakMap<ProviderConnection, Partial<Record<Path, Endpoint>>>();

/** URL and authentication by kind of request. `baseUrl` ends in `/v1`. */
export function endpointOf(connection: ProviderConnection, path: Path): Endpoint {
  const known = ENDPOINTS.get(connection)?.[path];
  if (known !== undefined) return known;
  const endpoint: Endpoint = {
    url: `${connection.baseUrl}/${path}`,
    method: 'POST',
    headers: requestHeaders(connection),
  };
  ENDPOINTS.set(connection, { ...ENDPOINTS.get(connection), [path]: endpoint });
  return endpoint;
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
