import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { completionTokens, promptTokens, type Usage } from '@llm0/core/chat/usage';
import type { DecisionAnswer, DecisionRequest } from '@llm0/core/tasks/decision';
import type { TaskDialect } from '../dialect';
import { encodeError } from '../openai-chat/encode-error';
import { invalid, mustBe, shown } from '../read-fields';
import { encodeFacts, readCommon } from './task-fields';

const KNOWN: ReadonlySet<string> = new Set(['input', 'questions']);
const MAX_QUESTIONS = 400;
const TYPES: ReadonlySet<JsonValue | undefined> = new Set(['predicate', 'choice', 'score']);

/** `POST /v1/decisions`. Source: https://platform.openai.com/docs/api-reference/decisions */
export const openaiDecisions: TaskDialect<DecisionRequest, DecisionAnswer> = {
  ...{ name: 'openai-decisions', body: 'json', encodeError },
  decodeRequest: ({ fields }) => ({
    ...readCommon(fields, KNOWN),
    ...{ stream: false, input: readInput(fields.input), questions: readQuestions(fields.questions) },
  }),
  encodeResponse: ({ answers }, summary) => ({
    ...{ answers, model: summary.model, usage: encodeUsage(summary.usage) },
    ...encodeFacts(summary),
  }),
};

function readInput(input: JsonValue | undefined): JsonValue {
  if (typeof input !== 'string' && !Array.isArray(input)) throw mustBe('input', 'a string or an array', input);
  if (input.length === 0) throw invalid('input', '"input" must not be empty.');
  return input;
}

function readQuestions(questions: JsonValue | undefined): readonly JsonObject[] {
  if (!Array.isArray(questions)) throw mustBe('questions', 'an array', questions);
  if (questions.length === 0 || questions.length > MAX_QUESTIONS) {
    throw invalid('questions', `"questions" must have 1 to ${MAX_QUESTIONS} entries, but has ${questions.length}.`);
  }
  return questions.map((question, index) => {
    const path = `questions.${index}`;
    if (!isObject(question)) throw mustBe(path, 'an object', question);
    if (TYPES.has(question.type)) return question;
    throw invalid(`${path}.type`, `"${path}.type" must be predicate, choice or score, but is ${shown(question.type)}.`);
  });
}

function encodeUsage(usage: Usage): JsonObject {
  const [input, output] = [promptTokens(usage), completionTokens(usage)];
  return {
    ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    },
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
