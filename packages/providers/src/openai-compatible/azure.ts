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

/** The deployment's own URL; its name stands for the model. The key is no bearer token here. */
function deploymentEndpoint(connection: ProviderConnection, model: string): Pick<UpstreamRequest, 'url' | 'headers'> {
  const root = connection.baseUrl.replace(/\/+$/, '').replace(/\/openai(?:\/v1)?$/, '');
  const version = encodeURIComponent(connection.options?.apiVersion ?? API_VERSION);
  return {
    url: `${root}/openai/deployments/${encodeURIComponent(model)}/chat/completions?api-version=${version}`,
    headers: connection.apiKey === undefined ? {} : { 'api-key': connection.apiKey },
  };
}

/** Azure OpenAI: models are named by their deployment. Source: https://learn.microsoft.com/azure/ai-foundry/openai/reference */
export const azure: Provider = {
  ...compatible,
  encodeRequest: (request, context) => {
    const { apiKey: _key, ...keyless } = context.connection;
    const encoded = compatible.encodeRequest(request, { ...context, connection: keyless });
    const { url, headers } = deploymentEndpoint(context.connection, context.model);
    return { ...encoded, url, headers: { ...encoded.headers, ...headers } };
  },
};
