import { createChatProvider } from '../openai/index';
import { OPENAI_QUIRKS } from '../openai/quirks';
import type { Provider } from '../provider';
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
  // There is no vendor behind it.
  passthrough: undefined,
  respondLocally: (request, signal) =>
    respondLocally(typeof request.body === 'string' ? request.body : new TextDecoder().decode(request.body), signal),
};
