import type { WireFormat } from '@llm0/core/chat/json';
import * as anthropicFixtures from './anthropic/__fixtures__/answers';
import * as bedrockFixtures from './bedrock/__fixtures__/answers';
import * as cohereFixtures from './cohere/__fixtures__/answers';
import * as geminiFixtures from './gemini/__fixtures__/answers';
import * as openaiFixtures from './openai/__fixtures__/answers';
import { ANSWERS as COMPATIBLE_ANSWERS } from './openai-compatible/__fixtures__/answers';
import { checkProvider, type ProviderFixtures } from './provider.cases';
import { createProviderRegistry } from './registry';

/** What the servers of each format send. */
const FIXTURES: Partial<Record<WireFormat, Omit<ProviderFixtures, 'provider'>>> = {
  'openai-chat': {
    answers: [...openaiFixtures.ANSWERS, ...COMPATIBLE_ANSWERS],
    broken: openaiFixtures.BROKEN,
  },
  'anthropic-messages': { answers: anthropicFixtures.ANSWERS, broken: anthropicFixtures.BROKEN },
  'cohere-chat': { answers: cohereFixtures.ANSWERS, broken: cohereFixtures.BROKEN },
  'bedrock-converse': { answers: bedrockFixtures.ANSWERS, broken: bedrockFixtures.BROKEN },
  'gemini-content': { answers: geminiFixtures.ANSWERS, broken: geminiFixtures.BROKEN },
};

for (const provider of createProviderRegistry().list()) {
  const fixtures = FIXTURES[provider.wireFormat];
  if (fixtures === undefined) throw new Error(`no fixtures for ${provider.wireFormat}`);
  checkProvider({ provider, ...fixtures });
}
