import type { ProviderConnection, UpstreamRequest } from '../provider';

export interface ContentTarget {
  readonly connection: ProviderConnection;
  readonly model: string;
  readonly stream: boolean;
}

/** Where requests go and how they authenticate; the key is never in the URL. `baseUrl` is the host's root. */
export function contentEndpoint({
  connection,
  model,
  stream,
}: ContentTarget): Pick<UpstreamRequest, 'url' | 'method' | 'headers'> {
  const path = /^(?:models|tunedModels)\//.test(model) ? model : `models/${model}`;
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    url: `${rootOf(connection)}/v1beta/${path.split('/').map(encodeURIComponent).join('/')}:${method}`,
    method: 'POST',
    headers: requestHeaders(connection),
  };
}

/** The list of models: costs nothing, and tells whether the key is good. */
export function probeEndpoint(connection: ProviderConnection): Pick<UpstreamRequest, 'url' | 'headers'> {
  return { url: `${rootOf(connection)}/v1beta/models?pageSize=1`, headers: requestHeaders(connection) };
}

function rootOf({ baseUrl }: ProviderConnection): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/v1(?:beta)?$/, '');
}

function requestHeaders(connection: ProviderConnection): Record<string, string> {
  return {
    'content-type': 'application/json',
    // A compressed stream is held back until a block is full, which delays the first tokens.
    'accept-encoding': 'identity',
    ...(connection.apiKey === undefined ? {} : { 'x-goog-api-key': connection.apiKey }),
    ...connection.headers,
  };
}
