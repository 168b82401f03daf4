import { BROKEN, ANSWERS as OPENAI_ANSWERS } from './openai/__fixtures__/answers';
import { ANSWERS as COMPATIBLE_ANSWERS } from './openai-compatible/__fixtures__/answers';
import { checkProvider } from './provider.cases';
import { createProviderRegistry } from './registry';

const CHAT_ANSWERS = [...OPENAI_ANSWERS, ...COMPATIBLE_ANSWERS];

for (const provider of createProviderRegistry().list()) {
  if (provider.wireFormat === 'openai-chat') checkProvider({ provider, answers: CHAT_ANSWERS, broken: BROKEN });
}
