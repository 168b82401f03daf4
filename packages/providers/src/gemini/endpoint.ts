import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

export interface ContentTarget {
  readonly connection: ProviderConnection;
  readonly model: string;
  readonly stream: boolean;
}

/** URL and authentication of requests; the URL never contains the key. `baseUrl` is the host's root. */
export function contentEndpoint({ stream, ...target }: ContentTarget): Endpoint {
  return methodEndpoint(target, stream ? 'streamGenerateContent?alt=sse' : 'generateContent');
}

/** URL for several embeddings at once. */
export function embeddingsEndpoint(target: Omit<ContentTarget, 'stream'>): Endpoint {
  return methodEndpoint(target, 'batchEmbedContents');
}

/** URL of models that predict. */
export function predictEndpoint(target: Omit<ContentTarget, 'stream'>): Endpoint {
  return methodEndpoint(target, 'predict');
}

/** The vendor's own name of a model: `models/…`. */
export function modelPath(model: string): string {
  return /^(?:models|tunedModels)\//.test(model) ? model : `models/${model}`;
}

function methodEndpoint({ connection, model }: Omit<ContentTarget, 'stream'>, method: string): Endpoint {
  const path = modelPath(model).split('/').map(encodeURIComponent).join('/');
  const url = `${rootOf(connection)}/v1beta/${path}:${method}`;
  return { url, method: 'POST', headers: requestHeaders(connection) };
}

/** The free list of models, which shows if the key is valid. */
export function probeEndpoint(connection: ProviderConnection): Omit<Endpoint, 'method'> {
  return { url: `${rootOf(connection)}/v1beta/models?pageSize=1`, headers: requestHeaders(connection) };
}

/** The host's root. */
export function rootOf({ baseUrl }: ProviderConnection): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/v1(?:beta)?$/, '');
}

function requestHeaders(connection: ProviderConnection): Record<string, string> {
  return jsonHeaders(connection, keyHeaders(connection));
}

export function keyHeaders({ apiKey }: ProviderConnection): Record<string, string> {
  return apiKey === undefined ? {} : { 'x-goog-api-key': apiKey };
}
