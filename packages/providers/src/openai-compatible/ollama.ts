import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { countOutput } from '@llm0/core/pricing/count-output';
import { createEmbeddings, OPENAI_EMBEDDINGS } from '../openai/embeddings';
import { modelsEndpoint } from '../openai/endpoint';
import { passthrough, shapesUnder } from '../openai/passthrough';
import { createUsageReader, limitOf, type NativeDecoder, type NativeShape } from '../passthrough';
import type { Provider } from '../provider';
import type { EncodeContext, ProviderConnection } from '../provider-request';
import { asCount, asObject } from '../translation/read-json';
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
  // Local names have no pattern; the server lists them.
  modelPatterns: [],
  modelsEndpoint: (connection) => modelsEndpoint(withVersion(connection)),
  completions: {
    ...{ takesMany: false, echoes: false },
    baseUrl: (connection) => withVersion(connection).baseUrl,
  },
});

const embeddings = createEmbeddings('ollama', { ...OPENAI_EMBEDDINGS, base64: false, takesTokens: false });
const versioned = (context: EncodeContext) => ({ ...context, connection: withVersion(context.connection) });

const OWN_DECODER: NativeDecoder = {
  decode: ({ message, response, thinking }, events) =>
    events.push({ type: 'unread', bytes: countOutput(message ?? response) + countOutput(thinking) }),
};

/** Source: https://docs.ollama.com/api */
const OWN: NativeShape = {
  path: /^\/api\/(?:chat|generate)$/,
  outputLimit: (body) => limitOf(asObject(body.options), 'num_predict'),
  tellsCost: () => true,
  boundedFields: new Set([
    ...['model', 'messages', 'prompt', 'suffix', 'system', 'template', 'tools', 'format', 'options', 'stream', 'raw'],
    ...['think', 'keep_alive', 'context'],
  ]),
  createReader: () =>
    createUsageReader(
      (value) =>
        value.done === true
          ? { ...ZERO_USAGE, inputTokens: asCount(value.prompt_eval_count), outputTokens: asCount(value.eval_count) }
          : undefined,
      OWN_DECODER,
    ),
};
const OWN_EMBED: NativeShape = {
  ...OWN,
  path: /^\/api\/embed(?:dings)?$/,
  isInputOnly: true,
  outputLimit: () => 0,
  boundedFields: new Set(['model', 'input', 'prompt', 'options', 'truncate', 'keep_alive', 'dimensions']),
  createReader: () => createUsageReader((value) => ({ ...ZERO_USAGE, inputTokens: asCount(value.prompt_eval_count) })),
};
const OWN_SHAPES = [OWN, OWN_EMBED];

/** Models on the operator's own machines, without a key. Source: https://docs.ollama.com/api/openai-compatibility */
export const ollama: Provider = {
  ...compatible,
  passthrough: {
    ...passthrough,
    // Its native API is beside the compatible one.
    root: ({ baseUrl }) => baseUrl.replace(/\/+$/, '').replace(/\/v1$/, ''),
    shapes: [...shapesUnder('/v1'), ...OWN_SHAPES],
  },
  encodeRequest: (request, context) => compatible.encodeRequest(request, versioned(context)),
  embeddings: {
    ...embeddings,
    encodeRequest: (request, context) => embeddings.encodeRequest(request, versioned(context)),
  },
};
