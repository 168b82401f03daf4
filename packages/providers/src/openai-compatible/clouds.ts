import { modelsEndpoint } from '../openai/endpoint';
import { createImages } from '../openai/tasks/image';
import { createSpeech } from '../openai/tasks/speech';
import { createTranscription } from '../openai/tasks/transcription';
import { type CompatibleOverrides, createCompatibleProvider } from './create-compatible-provider';
import { createRerank } from './rerank';

const CLOUDS: readonly CompatibleOverrides[] = [
  // Source: https://console.groq.com/docs/openai
  {
    name: 'groq',
    defaultBaseUrl: 'https://api.groq.com/openai/v1',
    modelPatterns: [/^groq\//, /^openai\/gpt-oss-/, /^whisper-large-/],
    quirks: { outputLimitField: 'as-sent', topK: false },
    embeddings: null,
    // Source: https://console.groq.com/docs/speech-to-text
    tasks: {
      transcription: createTranscription('groq', { tellsUsage: false, streams: false, leastSeconds: 10 }),
      speech: createSpeech('groq', { hasEvents: false }),
    },
  },
  // Source: https://docs.together.ai/docs/openai-api-compatibility
  {
    name: 'together',
    defaultBaseUrl: 'https://api.together.xyz/v1',
    modelPatterns: [],
    // Source: https://docs.together.ai/reference/completions
    completions: { takesMany: false },
    // Source: https://docs.together.ai/reference/rerank
    tasks: {
      rerank: createRerank('together', { topField: 'top_n', listField: 'results', takesLimit: false }),
      // Source: https://docs.together.ai/reference/post-images-generations
      image: createImages('together', {
        ...{ size: 'width-height', quality: false, base64: 'base64', pictures: 'image_url', streams: false },
      }),
    },
  },
  // Source: https://api-docs.deepseek.com
  {
    name: 'deepseek',
    defaultBaseUrl: 'https://api.deepseek.com/v1',
    modelPatterns: [/^deepseek-(?:chat|reasoner|coder)/],
    quirks: { topK: false },
    embeddings: null,
    // Source: https://api-docs.deepseek.com/guides/fim_completion
    completions: {
      serves: (model) => !/reasoner|-r1/.test(model),
      takesMany: false,
      baseUrl: ({ baseUrl }) => `${baseUrl.replace(/\/v1$/, '')}/beta`,
    },
  },
  // Source: https://docs.x.ai/docs/api-reference
  {
    name: 'xai',
    defaultBaseUrl: 'https://api.x.ai/v1',
    modelPatterns: [/^grok-/],
    quirks: { outputLimitField: 'as-sent', topK: false },
    // Source: https://docs.x.ai/docs/guides/image-generations
    tasks: {
      image: createImages('xai', {
        ...{ size: null, quality: false, base64: 'b64_json', pictures: 'image-object', streams: false },
      }),
    },
  },
  // Source: https://docs.mistral.ai/api
  {
    name: 'mistral',
    defaultBaseUrl: 'https://api.mistral.ai/v1',
    modelPatterns: [/^(?:open-)?(?:mistral|mixtral|codestral|ministral|pixtral|magistral|devstral|voxtral)-/],
    // Refuses unknown fields with 422; sends usage on the last chunk unasked.
    quirks: { streamOptions: false, topK: false, renamed: { seed: 'random_seed' } },
    // Source: https://docs.mistral.ai/api/endpoint/embeddings
    embeddings: { dimensionsField: 'output_dimension', maxInputs: 512 },
    // Source: https://docs.mistral.ai/capabilities/guardrailing
    moderationModels: /^mistral-moderation-/,
    // Fills in the middle, and answers as chat does. Source: https://docs.mistral.ai/api/endpoint/fim
    completions: {
      serves: (model) => /^codestral-(?!mamba|embed)/.test(model),
      ...{ takesMany: false, echoes: false, path: 'fim/completions' },
      fields: new Set([
        ...['model', 'prompt', 'suffix', 'temperature', 'top_p', 'max_tokens', 'min_tokens', 'stream', 'stop', 'seed'],
        ...['random_seed', 'metadata'],
      ]),
    },
  },
  // Source: https://openrouter.ai/docs/api-reference/overview
  {
    name: 'openrouter',
    defaultBaseUrl: 'https://openrouter.ai/api/v1',
    modelPatterns: [],
    quirks: { outputLimitField: 'as-sent', cacheMarks: true },
    embeddings: { takesTokens: true },
    // Source: https://openrouter.ai/docs/api-reference/completion
    completions: { takesMany: false, echoes: false },
  },
  // Source: https://docs.fireworks.ai/tools-sdks/openai-compatibility
  {
    name: 'fireworks',
    defaultBaseUrl: 'https://api.fireworks.ai/inference/v1',
    modelPatterns: [/^accounts\/fireworks\//],
    // Source: https://docs.fireworks.ai/api-reference/post-completions
    completions: {},
  },
  // No chat, and no list of models. Source: https://docs.voyageai.com/reference/embeddings-api
  {
    name: 'voyage',
    defaultBaseUrl: 'https://api.voyageai.com/v1',
    modelPatterns: [/^voyage-/, /^rerank-(?:\d|lite-)/],
    embeddings: { dimensionsField: 'output_dimension', maxInputs: 1000, takesUser: false },
    // Source: https://docs.voyageai.com/reference/list-batches
    probeUrl: (connection) => ({ ...modelsEndpoint(connection), url: `${connection.baseUrl}/batches?limit=1` }),
    // Source: https://docs.voyageai.com/reference/reranker-api
    tasks: { rerank: createRerank('voyage', { topField: 'top_k', listField: 'data', takesLimit: false }) },
  },
  // No chat. Source: https://api.jina.ai/docs
  {
    name: 'jina',
    defaultBaseUrl: 'https://api.jina.ai/v1',
    modelPatterns: [/^jina-/],
    embeddings: { maxInputs: 512, takesUser: false },
    tasks: { rerank: createRerank('jina', { topField: 'top_n', listField: 'results', takesLimit: false }) },
  },
];

/** Known vendors by their differences, in the order of name matching. */
export const COMPATIBLE_CLOUDS = CLOUDS.map(createCompatibleProvider);
