import { type Endpoint, jsonHeaders, type ProviderConnection } from '../provider-request';

type Path =
  | 'chat/completions'
  | 'responses'
  | 'embeddings'
  | 'moderations'
  | 'decisions'
  | 'rerank'
  | 'images/generations'
  | 'images/edits'
  | 'audio/transcriptions'
  | 'audio/translations'
  | 'audio/speech';

/** By connection, which a changed key or setting replaces. */
const ENDPOINTS = new WeakMap<ProviderConnection, Partial<Record<Path, Endpoint>>>();

/** URL and authentication by kind of request. `baseUrl` ends in `/v1`. */
export function endpointOf(connection: ProviderConnection, path: Path): Endpoint {
  const known = ENDPOINTS.get(connection)?.[path];
  if (known !== undefined) return known;
  const endpoint: Endpoint = {
    url: `${connection.baseUrl}/${path}`,
    method: 'POST',
    headers: requestHeaders(connection),
  };
  ENDPOINTS.set(connection, { ...ENDPOINTS.get(connection), [path]: endpoint });
  return endpoint;
}

/** URL of the upstream's model list. */
export function modelsEndpoint(connection: ProviderConnection): Omit<Endpoint, 'method'> {
  return { url: `${connection.baseUrl}/models`, headers: requestHeaders(connection) };
}

function requestHeaders(connection: ProviderConnection): Record<string, string> {
  return jsonHeaders(connection, keyHeaders(connection));
}

export function keyHeaders({ apiKey }: ProviderConnection): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

/** Differences between OpenAI's own API and servers that speak its format. */
export interface ChatQuirks {
  /** Field for the output limit: `as-sent` keeps the caller's, `max_tokens` renames the newer one. */
  readonly outputLimitField: 'as-sent' | 'max_tokens';
  /** Models that take `max_completion_tokens` only and refuse sampling parameters. */
  readonly isReasoningModel: (model: string, capabilities: readonly string[]) => boolean;
  /** False for servers that reject `stream_options` and report usage anyway. */
  readonly streamOptions: boolean;
  /** True where `top_k` is understood. */
  readonly topK: boolean;
  /** True if it accepts prompt cache marks; some servers refuse them, so others get none. */
  readonly cacheMarks: boolean;
  /** Names of top-level fields that the server calls otherwise: ours → its own. */
  readonly renamed: Readonly<Record<string, string>>;
}

const REASONING_MODEL = /^(?:o[134](?:$|[-.])|gpt-[5-9](?!.*chat))/;

/** OpenAI's own API. Source: https://platform.openai.com/docs/guides/reasoning */
export const OPENAI_QUIRKS: ChatQuirks = {
  outputLimitField: 'as-sent',
  isReasoningModel: (model, capabilities) =>
    capabilities.includes('reasoning') || REASONING_MODEL.test(model.replace(/^ft:/, '')),
  streamOptions: true,
  topK: false,
  cacheMarks: false,
  renamed: {},
};

/** Sampling parameters that reasoning models refuse, with the default that may be left out unnoticed. */
export const REASONING_DEFAULTS: Readonly<Record<string, number | boolean>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
};
