import { modelsEndpoint } from '../openai/endpoint';
import type { Provider } from '../provider';
import { createCompatibleProvider } from './create-compatible-provider';

/** Kind of servers that an operator adds at run time. */
export const CUSTOM_KIND = 'openai-compatible';

/** A server added at run time. `listsModels`: asked what it serves, as nobody said. */
export function createCustomProvider(name: string, listsModels: boolean): Provider {
  return createCompatibleProvider({
    name,
    // It has no other than the one it was added with.
    defaultBaseUrl: '',
    modelPatterns: [],
    quirks: { outputLimitField: 'as-sent', cacheMarks: true },
    // Such servers take tokens of their model's own vocabulary.
    embeddings: { takesTokens: true },
    completions: {},
    ...(listsModels ? { modelsEndpoint } : {}),
  });
}
