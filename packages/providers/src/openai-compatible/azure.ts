import { createCompletions } from '../openai/completions/create-completions';
import { OPENAI_COMPLETIONS } from '../openai/completions/quirks';
import { createEmbeddings, OPENAI_EMBEDDINGS } from '../openai/embeddings';
import { OPENAI_QUIRKS } from '../openai/endpoint';
import { passthrough, shapesUnder } from '../openai/passthrough';
import { realtime } from '../openai/realtime/realtime';
import { createImages, OPENAI_IMAGES } from '../openai/tasks/image';
import { createSpeech } from '../openai/tasks/speech';
import { createTranscription } from '../openai/tasks/transcription';
import type { Provider } from '../provider';
import type { EncodeContext, Endpoint, EndpointRequest, ProviderConnection } from '../provider-request';
import { createCompatibleProvider } from './create-compatible-provider';

/** The stable version of the API; `options.apiVersion` of the connection sets another. */
const API_VERSION = '2024-10-21';
/**
 * Of images and audio, whose newer models the stable version doesn't know. Source:
 * https://learn.microsoft.com/azure/foundry/openai/reference-preview
 */
const MEDIA_API_VERSION = '2025-04-01-preview';

const compatible = createCompatibleProvider({
  name: 'azure',
  // Every resource has a host of its own.
  defaultBaseUrl: '',
  modelPatterns: [],
  quirks: OPENAI_QUIRKS,
  embeddings: OPENAI_EMBEDDINGS,
  completions: OPENAI_COMPLETIONS,
});

function resourceRoot({ baseUrl }: ProviderConnection): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/openai(?:\/v1)?$/, '');
}

const versionOf = ({ options }: ProviderConnection, usual = API_VERSION) => options?.apiVersion ?? usual;

/** A JSON Web Token of Microsoft Entra instead of a resource's key. */
const ENTRA_TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

/** A resource's key is no bearer token here. */
function keyHeaders({ apiKey }: ProviderConnection): Record<string, string> {
  if (apiKey === undefined) return {};
  return ENTRA_TOKEN.test(apiKey) ? { authorization: `Bearer ${apiKey}` } : { 'api-key': apiKey };
}

/** A URL of the resource. */
function resourceEndpoint(
  connection: ProviderConnection,
  path: string,
  usualVersion = API_VERSION,
): Omit<Endpoint, 'method'> {
  const version = versionOf(connection, usualVersion);
  return {
    url: `${resourceRoot(connection)}/openai/${path}?api-version=${encodeURIComponent(version)}`,
    headers: keyHeaders(connection),
  };
}

/** Sends the format's request to a deployment. */
function toDeployment<T extends EndpointRequest>(
  context: EncodeContext,
  path: string,
  encode: (keyless: EncodeContext) => T,
): T {
  const { apiKey: _key, ...keyless } = context.connection;
  const encoded = encode({ ...context, connection: keyless });
  // The deployment's name replaces the model.
  const deployment = `deployments/${encodeURIComponent(context.model)}`;
  const version = path.startsWith('images/') || path.startsWith('audio/') ? MEDIA_API_VERSION : API_VERSION;
  const { url, headers } = resourceEndpoint(context.connection, `${deployment}/${path}`, version);
  return { ...encoded, url, headers: { ...encoded.headers, ...headers } };
}

const embeddings = createEmbeddings('azure', OPENAI_EMBEDDINGS);
const speech = createSpeech('azure', { hasEvents: true });
const transcription = createTranscription('azure', { tellsUsage: false, streams: true });
const image = createImages('azure', OPENAI_IMAGES);
const completions = createCompletions('azure', OPENAI_COMPLETIONS, OPENAI_QUIRKS);

/** Azure OpenAI: models are named by their deployment. Source: https://learn.microsoft.com/azure/ai-foundry/openai/reference */
export const azure: Provider = {
  ...compatible,
  encodeRequest: (request, context) =>
    toDeployment(context, 'chat/completions', (keyless) => compatible.encodeRequest(request, keyless)),
  embeddings: {
    ...embeddings,
    encodeRequest: (request, context) =>
      toDeployment(context, 'embeddings', (keyless) => embeddings.encodeRequest(request, keyless)),
  },
  completions: {
    ...completions,
    encodeRequest: (request, context) =>
      toDeployment(context, 'completions', (keyless) => completions.encodeRequest(request, keyless)),
  },
  tasks: {
    transcription: {
      ...transcription,
      encodeRequest: (request, context) =>
        toDeployment(context, request.translates ? 'audio/translations' : 'audio/transcriptions', (keyless) =>
          transcription.encodeRequest(request, keyless),
        ),
    },
    speech: {
      ...speech,
      encodeRequest: (request, context) =>
        toDeployment(context, 'audio/speech', (keyless) => speech.encodeRequest(request, keyless)),
    },
    image: {
      ...image,
      encodeRequest: (request, context) =>
        toDeployment(context, request.pictures === undefined ? 'images/generations' : 'images/edits', (keyless) =>
          image.encodeRequest(request, keyless),
        ),
    },
  },
  realtime: {
    realtime: {
      ...realtime,
      endpoint: (target) => {
        const { url } = realtime.endpoint({
          ...target,
          connection: { baseUrl: `${resourceRoot(target.connection)}/openai/v1` },
        });
        return { url, headers: { ...keyHeaders(target.connection), ...target.connection.headers } };
      },
    },
  },
  passthrough: {
    ...passthrough,
    root: resourceRoot,
    shapes: shapesUnder('/openai/(?:v1|deployments/(?<model>[^/%;]+))'),
    query: (connection) => ({ 'api-version': versionOf(connection) }),
    authorize: (_request, connection) => ({ ...keyHeaders(connection), ...connection.headers }),
  },
  probeUrl: (connection) => resourceEndpoint(connection, 'models'),
};
