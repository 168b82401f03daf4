import { createCompatibleProvider } from './create-compatible-provider';

/** Source: https://docs.x.ai/docs/api-reference */
export const xai = createCompatibleProvider({
  name: 'xai',
  defaultBaseUrl: 'https://api.x.ai/v1',
  modelPatterns: [/^grok-/],
  quirks: { outputLimitField: 'as-sent', topK: false },
});
