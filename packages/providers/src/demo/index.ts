import { OPENAI_QUIRKS } from '../openai/endpoint';
import { createChatProvider } from '../openai/index';
import type { Provider } from '../provider';
import { LargeJson } from '../translation/json-body';
import { respondLocally } from './respond';

const profile = createChatProvider({
  name: 'demo',
  defaultBaseUrl: '',
  modelPatterns: [/^demo-(?:chat|slow)$/],
  quirks: { ...OPENAI_QUIRKS, isReasoningModel: () => false, topK: true },
  embeddings: null,
  completions: null,
});

/** Built in, so that everything can be tried without an account: `demo-chat`, and `demo-slow` at a visible pace. */
export const demo: Provider = {
  ...profile,
  // The demo has no vendor.
  passthrough: undefined,
  respondLocally: async ({ body }, signal) => {
    const bytes = body instanceof LargeJson ? Buffer.concat(await body.pieces()) : body;
    return respondLocally(typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes), signal);
  },
};
