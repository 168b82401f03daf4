import { createCompatibleProvider } from './create-compatible-provider';

/** Source: https://api-docs.deepseek.com */
export const deepseek = createCompatibleProvider({
  name: 'deepseek',
  defaultBaseUrl: 'https://api.deepseek.com/v1',
  modelPatterns: [/^deepseek-(?:chat|reasoner|coder)/],
  quirks: { topK: false },
  embeddings: null,
});
