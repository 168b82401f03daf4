import { createCompatibleProvider } from './create-compatible-provider';

/** Source: https://docs.fireworks.ai/tools-sdks/openai-compatibility */
export const fireworks = createCompatibleProvider({
  name: 'fireworks',
  defaultBaseUrl: 'https://api.fireworks.ai/inference/v1',
  modelPatterns: [/^accounts\/fireworks\//],
});
