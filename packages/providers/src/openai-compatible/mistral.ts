import { createCompatibleProvider } from './create-compatible-provider';

/** Source: https://docs.mistral.ai/api */
export const mistral = createCompatibleProvider({
  name: 'mistral',
  defaultBaseUrl: 'https://api.mistral.ai/v1',
  modelPatterns: [/^(?:open-)?(?:mistral|mixtral|codestral|ministral|pixtral|magistral|devstral|voxtral)-/],
  // Unknown fields are refused with 422; usage comes on the last chunk without being asked for.
  quirks: { streamOptions: false, topK: false, renamed: { seed: 'random_seed' } },
  // Source: https://docs.mistral.ai/api/endpoint/embeddings
  embeddings: { dimensionsField: 'output_dimension', maxInputs: 512 },
});
