import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

export interface ContentTarget {
  readonly connection: ProviderConnection;
  readonly model: string;
  readonly stream: boolean;
}

/** Where requests go and how they authenticate; the key is never in the URL. `baseUrl` is the host's root. */
export function contentEndpoint({ stream, ...target }: ContentTarget): Endpoint {
  return methodEndpoint(target, stream ? 'streamGenerateContent?alt=sse' : 'generateContent');
}

/** Where several texts are embedded at once. */
export function embeddingsEndpoint(target: Omit<ContentTarget, 'stream'>): Endpoint {
  return methodEndpoint(target, 'batchEmbedContents');
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

/** The list of models: costs nothing, and tells whether the key is good. */
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
