import { OPENAI_QUIRKS } from '../openai/quirks';
import type { Provider, ProviderConnection, UpstreamRequest } from '../provider';
import { createCompatibleProvider } from './create-compatible-provider';

/** The stable version of the API; `options.apiVersion` of the connection sets another. */
const API_VERSION = '2024-10-21';

const compatible = createCompatibleProvider({
  name: 'azure',
  // Every resource has a host of its own.
  defaultBaseUrl: '',
  modelPatterns: [],
  quirks: OPENAI_QUIRKS,
});

/** A URL of the resource. The key is no bearer token here. */
function resourceEndpoint(connection: ProviderConnection, path: string): Pick<UpstreamRequest, 'url' | 'headers'> {
  const root = connection.baseUrl.replace(/\/+$/, '').replace(/\/openai(?:\/v1)?$/, '');
  const version = encodeURIComponent(connection.options?.apiVersion ?? API_VERSION);
  return {
    url: `${root}/openai/${path}?api-version=${version}`,
    headers: connection.apiKey === undefined ? {} : { 'api-key': connection.apiKey },
  };
}

/** Azure OpenAI: models are named by their deployment. Source: https://learn.microsoft.com/azure/ai-foundry/openai/reference */
export const azure: Provider = {
  ...compatible,
  encodeRequest: (request, context) => {
    const { apiKey: _key, ...keyless } = context.connection;
    const encoded = compatible.encodeRequest(request, { ...context, connection: keyless });
    const { url, headers } = resourceEndpoint(
      context.connection,
      // The deployment's name stands for the model.
      `deployments/${encodeURIComponent(context.model)}/chat/completions`,
    );
    return { ...encoded, url, headers: { ...encoded.headers, ...headers } };
  },
  probeUrl: (connection) => resourceEndpoint(connection, 'models'),
};
