import { createCompatibleProvider } from './create-compatible-provider';

/** Source: https://openrouter.ai/docs/api-reference/overview */
export const openrouter = createCompatibleProvider({
  name: 'openrouter',
  defaultBaseUrl: 'https://openrouter.ai/api/v1',
  modelPatterns: [],
  quirks: { outputLimitField: 'as-sent' },
});
