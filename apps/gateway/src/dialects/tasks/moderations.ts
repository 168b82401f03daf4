import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { promptTokens } from '@llm0/core/chat/usage';
import type { ModerationAnswer, ModerationPart, ModerationRequest } from '@llm0/core/tasks/moderation';
import type { TaskDialect } from '../dialect';
import { encodeError } from '../openai-chat/encode-error';
import { invalid, kindOf, mustBe, requiredText } from '../read-fields';
import { encodeFacts, readCommon } from './task-fields';

const KNOWN: ReadonlySet<string> = new Set(['input']);
const DEFAULT_MODEL = 'omni-moderation-latest';
const MAX_INPUTS = 2048;

/** `POST /v1/moderations`. Source: https://platform.openai.com/docs/api-reference/moderations */
export const openaiModerations: TaskDialect<ModerationRequest, ModerationAnswer> = {
  ...{ name: 'openai-moderations', body: 'json', encodeError },
  decodeRequest: ({ fields }) => ({
    ...readCommon({ ...fields, model: fields.model ?? DEFAULT_MODEL }, KNOWN),
    stream: false,
    ...readInputs(fields.input),
  }),
  encodeResponse: ({ results }, summary) => ({
    id: `modr-${summary.requestId}`,
    model: summary.model,
    results,
    ...(promptTokens(summary.usage) === 0 ? {} : { usage: usageOf(promptTokens(summary.usage)) }),
    ...encodeFacts(summary),
  }),
};

const usageOf = (tokens: number): JsonObject => ({ prompt_tokens: tokens, total_tokens: tokens });

/** A text, texts, or parts of one input. */
function readInputs(input: JsonValue | undefined): Pick<ModerationRequest, 'inputs' | 'isOne'> {
  if (typeof input === 'string') return { inputs: [{ type: 'text', text: input }], isOne: true };
  if (!Array.isArray(input)) throw invalid('input', `"input" must be a string or an array, but is ${kindOf(input)}.`);
  if (input.length === 0) throw invalid('input', '"input" must not be empty.');
  if (input.length > MAX_INPUTS) throw invalid('input', `"input" may have at most ${MAX_INPUTS} entries.`);
  const isOne = input.some((part) => typeof part !== 'string');
  return { inputs: input.map((part, index) => readPart(part, `input.${index}`, isOne)), isOne };
}

function readPart(part: JsonValue, path: string, isOne: boolean): ModerationPart {
  if (typeof part === 'string' && !isOne) return { type: 'text', text: part };
  if (!isObject(part)) throw mustBe(path, 'a part of content, as the others', part);
  if (part.type === 'text') return { type: 'text', text: requiredText(part, 'text', path) };
  if (part.type !== 'image_url') throw invalid(`${path}.type`, `"${path}.type" must be "text" or "image_url".`);
  if (!isObject(part.image_url)) throw mustBe(`${path}.image_url`, 'an object', part.image_url);
  return { type: 'image', url: requiredText(part.image_url, 'url', `${path}.image_url`) };
}
