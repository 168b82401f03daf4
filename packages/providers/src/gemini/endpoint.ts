import { jsonHeaders, type ProviderConnection, type UpstreamRequest } from '../provider-request';

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
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    url: methodUrl(connection, model, method),
    method: 'POST',
    headers: requestHeaders(connection),
  };
}

/** Where several texts are embedded at once. */
export function embeddingsEndpoint({
  connection,
  model,
}: Omit<ContentTarget, 'stream'>): Pick<UpstreamRequest, 'url' | 'method' | 'headers'> {
  return {
    url: methodUrl(connection, model, 'batchEmbedContents'),
    method: 'POST',
    headers: requestHeaders(connection),
  };
}

/** The vendor's own name of a model: `models/…`. */
export function modelPath(model: string): string {
  return /^(?:models|tunedModels)\//.test(model) ? model : `models/${model}`;
}

function methodUrl(connection: ProviderConnection, model: string, method: string): string {
  return `${rootOf(connection)}/v1beta/${modelPath(model).split('/').map(encodeURIComponent).join('/')}:${method}`;
}

/** The list of models: costs nothing, and tells whether the key is good. */
export function probeEndpoint(connection: ProviderConnection): Pick<UpstreamRequest, 'url' | 'headers'> {
  return { url: `${rootOf(connection)}/v1beta/models?pageSize=1`, headers: requestHeaders(connection) };
}

/** The host's root. */
export function rootOf({ baseUrl }: ProviderConnection): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/v1(?:beta)?$/, '');
}

function requestHeaders(connection: ProviderConnection): Record<string, string> {
  const { apiKey } = connection;
  return jsonHeaders(connection, apiKey === undefined ? {} : { 'x-goog-api-key': apiKey });
}
