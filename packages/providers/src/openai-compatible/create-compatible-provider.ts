import { type CompletionQuirks, OPEN_COMPLETIONS } from '../openai/completions/quirks';
import { type EmbeddingQuirks, OPENAI_EMBEDDINGS } from '../openai/embeddings';
import { type ChatQuirks, OPENAI_QUIRKS } from '../openai/endpoint';
import { type ChatProfile, createChatProvider } from '../openai/index';
import type { Provider } from '../provider';

/** Differences of a compatible server. */
export interface CompatibleOverrides extends Omit<ChatProfile, 'quirks' | 'embeddings' | 'completions'> {
  readonly quirks?: Partial<ChatQuirks>;
  /** null where the server makes none. */
  readonly embeddings?: Partial<EmbeddingQuirks> | null;
  /** Absent where the server only knows conversations. */
  readonly completions?: Partial<CompletionQuirks>;
}

/** Servers that speak the format rarely know the newer name of the output limit, but often `top_k`. */
const COMPATIBLE_QUIRKS: ChatQuirks = {
  ...OPENAI_QUIRKS,
  outputLimitField: 'max_tokens',
  isReasoningModel: () => false,
  topK: true,
};

/** Not every server supports base64; all support plain numbers. Other makers' models have their own vocabularies. */
const COMPATIBLE_EMBEDDINGS: EmbeddingQuirks = { ...OPENAI_EMBEDDINGS, base64: false, takesTokens: false };

/** Builds a Chat Completions provider from its differences. */
export function createCompatibleProvider(overrides: CompatibleOverrides): Provider {
  const { embeddings, completions } = overrides;
  return createChatProvider({
    ...overrides,
    quirks: { ...COMPATIBLE_QUIRKS, ...overrides.quirks },
    embeddings: embeddings === null ? null : { ...COMPATIBLE_EMBEDDINGS, ...embeddings },
    completions: completions === undefined ? null : { ...OPEN_COMPLETIONS, ...completions },
  });
}
