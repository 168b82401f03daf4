import { modelsEndpoint } from '../openai/endpoint';
import { realtime } from '../openai/realtime/realtime';
import { createImages, OPENAI_IMAGES } from '../openai/tasks/image';
import { createSpeech } from '../openai/tasks/speech';
import { createTranscription } from '../openai/tasks/transcription';
import type { Provider } from '../provider';
import { createCompatibleProvider } from './create-compatible-provider';
import { createRerank } from './rerank';

/** Kind of servers that an operator adds at run time. */
export const CUSTOM_KIND = 'openai-compatible';

/** A server added at run time. `listsModels`: the gateway asks for its models, because none are listed. */
export function createCustomProvider(name: string, listsModels: boolean): Provider {
  return createCompatibleProvider({
    name,
    // Set only when it is added.
    defaultBaseUrl: '',
    modelPatterns: [],
    quirks: { outputLimitField: 'as-sent', cacheMarks: true },
    // Such servers take tokens of their own vocabulary.
    embeddings: { takesTokens: true },
    completions: {},
    tasks: {
      rerank: createRerank(name, { topField: 'top_n', listField: 'results', takesLimit: true }),
      image: createImages(name, OPENAI_IMAGES),
      transcription: createTranscription(name, { tellsUsage: false, streams: true }),
      speech: createSpeech(name, { hasEvents: false }),
    },
    realtime: { realtime },
    ...(listsModels ? { modelsEndpoint } : {}),
  });
}
