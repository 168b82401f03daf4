import { type ChatProfile, createChatProvider } from '../openai/index';
import { type ChatQuirks, OPENAI_QUIRKS } from '../openai/quirks';
import type { Provider } from '../provider';

/** What a compatible server does otherwise than the vendor of the format. */
export interface CompatibleOverrides extends Omit<ChatProfile, 'quirks'> {
  readonly quirks?: Partial<ChatQuirks>;
}

/** Servers that speak the format rarely know the newer name of the output limit, but often `top_k`. */
const COMPATIBLE_QUIRKS: ChatQuirks = {
  ...OPENAI_QUIRKS,
  outputLimitField: 'max_tokens',
  isReasoningModel: () => false,
  topK: true,
};

/** A provider that speaks Chat Completions, from what sets it apart. */
export function createCompatibleProvider(overrides: CompatibleOverrides): Provider {
  return createChatProvider({ ...overrides, quirks: { ...COMPATIBLE_QUIRKS, ...overrides.quirks } });
}
