import { createCompatibleProvider } from './create-compatible-provider';

/** Source: https://console.groq.com/docs/openai */
export const groq = createCompatibleProvider({
  name: 'groq',
  defaultBaseUrl: 'https://api.groq.com/openai/v1',
  modelPatterns: [/^groq\//, /^openai\/gpt-oss-/],
  quirks: { outputLimitField: 'as-sent', topK: false },
  embeddings: null,
});
