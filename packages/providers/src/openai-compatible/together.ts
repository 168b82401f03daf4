import { createCompatibleProvider } from './create-compatible-provider';

/** Source: https://docs.together.ai/docs/openai-api-compatibility */
export const together = createCompatibleProvider({
  name: 'together',
  defaultBaseUrl: 'https://api.together.xyz/v1',
  modelPatterns: [],
});
