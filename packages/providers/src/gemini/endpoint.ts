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
  const root = connection.baseUrl.replace(/\/+$/, '').replace(/\/v1(?:beta)?$/, '');
  const path = /^(?:models|tunedModels)\//.test(model) ? model : `models/${model}`;
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    url: `${root}/v1beta/${path.split('/').map(encodeURIComponent).join('/')}:${method}`,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // A compressed stream is held back until a block is full, which delays the first tokens.
      'accept-encoding': 'identity',
      ...(connection.apiKey === undefined ? {} : { 'x-goog-api-key': connection.apiKey }),
      ...connection.headers,
    },
  };
}
