import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

export const PROVIDER = 'vertex';

const DEFAULT_LOCATION = 'global';

export interface PublisherTarget {
  readonly connection: ProviderConnection;
  readonly publisher: 'google' | 'anthropic';
  readonly model: string;
  readonly method: string;
}

/**
 * A model in a project. `options.project` and `options.location` of the connection; the key is an access token. Source:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models
 */
export function publisherEndpoint({ connection, publisher, model, method }: PublisherTarget): Endpoint {
  const { project = '', location = DEFAULT_LOCATION } = connection.options ?? {};
  const place = `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`;
  return {
    url: `${rootOf(connection, location)}/v1/${place}/publishers/${publisher}/models/${encodeModel(model)}:${method}`,
    method: 'POST',
    headers: jsonHeaders(
      connection,
      connection.apiKey === undefined ? {} : { authorization: `Bearer ${connection.apiKey}` },
    ),
  };
}

function rootOf({ baseUrl }: ProviderConnection, location: string): string {
  if (baseUrl !== '') return baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  return `https://${location === DEFAULT_LOCATION ? '' : `${location}-`}aiplatform.googleapis.com`;
}

/** Versions follow an `@`, which stays. */
const encodeModel = (model: string): string => encodeURIComponent(model).replaceAll('%40', '@');
