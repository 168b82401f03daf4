import { expect, test } from 'bun:test';
import { isBilledStatus } from './billed-statuses';

test.each<[string, number, string, boolean]>([
  ['openai', 200, '', true],
  ['openai', 400, 'bad', false],
  ['openai', 401, '', false],
  ['anthropic', 429, '', false],
  ['anthropic', 529, '', false],
  ['openai', 500, '', false],
  ['openai', 408, '', true],
  ['openai', 504, '', true],
  ['openrouter', 524, '', true],
  ['azure', 400, 'The response was filtered due to the prompt triggering Azure OpenAI content management policy', true],
  ['azure', 400, 'max_tokens is too large', false],
  ['bedrock', 424, '', true],
  ['groq', 424, '', false],
])('%s %d "%s": %p', (provider, status, words, expected) => {
  expect(isBilledStatus(provider, status, words)).toBe(expected);
});
