import type { JsonValue } from '@llm0/core/chat/json';
import type { TextPrompt } from '@llm0/core/chat/request';
import { invalid, kindOf, mustBe } from '../read-fields';

type Prompts = TextPrompt['prompts'];

const MAX_PROMPTS = 2048;
const MAX_TOKEN = 10_000_000;

/** A text, several of them, the tokens of one, or those of several. */
export function decodePrompts(value: JsonValue | undefined): Prompts {
  if (typeof value === 'string') return [value];
  if (value === undefined || value === null) throw mustBe('prompt', 'the text to continue', value);
  if (!Array.isArray(value)) throw mustBe('prompt', 'a string or an array', value);
  if (value.length === 0) throw invalid('prompt', '"prompt" is an empty array: send at least one prompt.');
  if (isTokens(value)) return [value];
  if (value.length > MAX_PROMPTS) {
    throw invalid('prompt', `"prompt" may hold at most ${MAX_PROMPTS} prompts, but holds ${value.length}.`);
  }
  return value.map((item, i) => {
    if (typeof item === 'string' || (Array.isArray(item) && item.length > 0 && isTokens(item))) return item;
    throw invalid(`prompt[${i}]`, `"prompt[${i}]" must be a string or an array of tokens, but is ${kindOf(item)}.`);
  });
}

function isTokens(value: JsonValue[]): value is number[] {
  return value.every((item) => typeof item === 'number' && Number.isInteger(item) && item >= 0 && item < MAX_TOKEN);
}
