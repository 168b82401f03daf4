import { createEmbeddings, OPENAI_EMBEDDINGS } from '../openai/embeddings';
import { modelsEndpoint } from '../openai/endpoint';
import type { Provider } from '../provider';
import type { EncodeContext, ProviderConnection } from '../provider-request';
import { createCompatibleProvider } from './create-compatible-provider';

/** The base URL is taken with or without `/v1`, as people write both. */
function withVersion(connection: ProviderConnection): ProviderConnection {
  const root = connection.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  return { ...connection, baseUrl: `${root}/v1` };
}

const compatible = createCompatibleProvider({
  name: 'ollama',
  defaultBaseUrl: 'http://127.0.0.1:11434',
  isFree: true,
  // Local names are like anybody's; which ones there are is known from the server's own list.
  modelPatterns: [],
  modelsEndpoint: (connection) => modelsEndpoint(withVersion(connection)),
  completions: {
    ...{ takesMany: false, echoes: false },
    baseUrl: (connection) => withVersion(connection).baseUrl,
  },
});

const embeddings = createEmbeddings('ollama', { ...OPENAI_EMBEDDINGS, base64: false, takesTokens: false });
const versioned = (context: EncodeContext) => ({ ...context, connection: withVersion(context.connection) });

/** Models on the operator's own machines, without a key. Source: https://docs.ollama.com/api/openai-compatibility */
export const ollama: Provider = {
  ...compatible,
  encodeRequest: (request, context) => compatible.encodeRequest(request, versioned(context)),
  embeddings: {
    ...embeddings,
    encodeRequest: (request, context) => embeddings.encodeRequest(request, versioned(context)),
  },
};
