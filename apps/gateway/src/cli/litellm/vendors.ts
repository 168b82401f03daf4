/** Vendors by LiteLLM's model prefix (`prefix/model`). */
export type Vendor =
  /** Known here by that name. */
  | { readonly known: string }
  /** OpenAI's format at a separate address; null = the file must name it. */
  | { readonly baseUrl: string | null }
  /** Vendors that this gateway doesn't support. */
  | { readonly unknown: string };

const server = { baseUrl: null } as const;

/** Sources: https://docs.litellm.ai/docs/providers, and the vendors' own pages for their addresses. */
const VENDORS: Readonly<Record<string, Vendor>> = {
  openai: { known: 'openai' },
  'text-completion-openai': { known: 'openai' },
  anthropic: { known: 'anthropic' },
  gemini: { known: 'gemini' },
  azure: { known: 'azure' },
  azure_text: { known: 'azure' },
  bedrock: { known: 'bedrock' },
  bedrock_converse: { known: 'bedrock' },
  groq: { known: 'groq' },
  together_ai: { known: 'together' },
  deepseek: { known: 'deepseek' },
  xai: { known: 'xai' },
  mistral: { known: 'mistral' },
  codestral: { known: 'mistral' },
  openrouter: { known: 'openrouter' },
  fireworks_ai: { known: 'fireworks' },
  cohere: { known: 'cohere' },
  cohere_chat: { known: 'cohere' },
  voyage: { known: 'voyage' },
  jina_ai: { known: 'jina' },
  ollama: { known: 'ollama' },
  ollama_chat: { known: 'ollama' },
  perplexity: { baseUrl: 'https://api.perplexity.ai' },
  cerebras: { baseUrl: 'https://api.cerebras.ai/v1' },
  nvidia_nim: { baseUrl: 'https://integrate.api.nvidia.com/v1' },
  sambanova: { baseUrl: 'https://api.sambanova.ai/v1' },
  deepinfra: { baseUrl: 'https://api.deepinfra.com/v1/openai' },
  moonshot: { baseUrl: 'https://api.moonshot.ai/v1' },
  dashscope: { baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1' },
  hyperbolic: { baseUrl: 'https://api.hyperbolic.xyz/v1' },
  nebius: { baseUrl: 'https://api.studio.nebius.ai/v1' },
  novita: { baseUrl: 'https://api.novita.ai/v3/openai' },
  custom_openai: server,
  openai_like: server,
  hosted_vllm: server,
  vllm: server,
  lm_studio: server,
  llamafile: server,
  xinference: server,
  litellm_proxy: server,
  infinity: server,
  docker_model_runner: server,
  vertex_ai: { unknown: 'Vertex AI is not reached by this gateway; Gemini models are with a key of Google AI Studio' },
  vertex_ai_beta: { unknown: 'Vertex AI is not reached by this gateway' },
  azure_ai: { unknown: 'Add it by hand as an OpenAI-compatible server: "llm0 providers create"' },
};

/** LiteLLM's vendor of a model without a prefix, by the names its own list has. */
const NAMES: readonly (readonly [pattern: RegExp, vendor: string])[] = [
  [/^(?:gpt-|chatgpt-|o\d|text-embedding-|davinci|babbage|ft:gpt-|dall-e|gpt-image|whisper|tts-)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^(?:command(?:$|-)|embed-)/, 'cohere'],
  [/^(?:(?:us|eu|apac|global)\.)?(?:anthropic|amazon|meta|cohere|mistral|ai21)\./, 'bedrock'],
];

export interface NamedModel {
  /** LiteLLM's prefix. */
  readonly prefix: string;
  readonly model: string;
  readonly vendor: Vendor;
}

/** `custom_llm_provider` overrides the prefix; undefined without a vendor. */
export function readModelName(model: string, ownPrefix: string | undefined): NamedModel | undefined {
  const slash = model.indexOf('/');
  const first = slash > 0 ? model.slice(0, slash) : undefined;
  if (ownPrefix !== undefined) {
    const rest = first === ownPrefix ? model.slice(slash + 1) : model;
    return { prefix: ownPrefix, model: rest, vendor: vendorOf(ownPrefix) };
  }
  if (first !== undefined) return { prefix: first, model: model.slice(slash + 1), vendor: vendorOf(first) };
  const named = NAMES.find(([pattern]) => pattern.test(model))?.[1];
  return named === undefined ? undefined : { prefix: named, model, vendor: vendorOf(named) };
}

/** The variables LiteLLM reads where the file has no key. */
const KEY_VARIABLES: Readonly<Record<string, string>> = {
  azure: 'AZURE_API_KEY',
  bedrock: 'AWS_ACCESS_KEY_ID',
  perplexity: 'PERPLEXITYAI_API_KEY',
  together_ai: 'TOGETHERAI_API_KEY',
  fireworks_ai: 'FIREWORKS_AI_API_KEY',
  cohere_chat: 'COHERE_API_KEY',
};

/** Undefined for servers that often have none. */
export function keyVariableOf({ prefix, vendor }: NamedModel): string | undefined {
  if ('baseUrl' in vendor && vendor.baseUrl === null) return undefined;
  if ('known' in vendor && vendor.known === 'ollama') return undefined;
  return (
    (Object.hasOwn(KEY_VARIABLES, prefix) ? KEY_VARIABLES[prefix] : undefined) ?? `${prefix.toUpperCase()}_API_KEY`
  );
}

const vendorOf = (prefix: string): Vendor =>
  (Object.hasOwn(VENDORS, prefix) ? VENDORS[prefix] : undefined) ?? {
    unknown: `"${prefix}" is no vendor that this gateway knows`,
  };

/** True for OpenAI's own API; any other address is a separate server. */
export const isOpenAi = (baseUrl: string): boolean => URL.parse(baseUrl)?.hostname.endsWith('.openai.com') === true;

const KNOWN = new Set(Object.values(VENDORS).flatMap((vendor) => ('known' in vendor ? [vendor.known] : [])));

export const isKnownVendor = (name: string): boolean => KNOWN.has(name);
