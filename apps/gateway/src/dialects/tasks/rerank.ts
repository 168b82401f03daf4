import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { promptTokens } from '@llm0/core/chat/usage';
import type { RerankAnswer, RerankRequest } from '@llm0/core/tasks/rerank';
import type { TaskDialect, TaskSummary } from '../dialect';
import { encodeError } from '../openai-chat/encode-error';
import { invalid, kindOf, mustBe, readNumber, requiredText } from '../read-fields';
import { encodeFacts, readCommon } from './task-fields';

const KNOWN: ReadonlySet<string> = new Set(['query', 'documents', 'top_n', 'max_tokens_per_doc']);
const MAX_DOCUMENTS = 10_000;
const MAX_TOKENS = 1_000_000;

/** `POST /v1/rerank` and `/v2/rerank`, in Cohere's format. Source: https://docs.cohere.com/reference/rerank */
export const cohereRerank: TaskDialect<RerankRequest, RerankAnswer> = {
  ...{ name: 'cohere-rerank', body: 'json', encodeError },
  decodeRequest({ fields }) {
    const { query } = fields;
    if (typeof query !== 'string') throw mustBe('query', 'a string', query);
    if (query === '') throw invalid('query', '"query" must not be empty.');
    return {
      ...readCommon(fields, KNOWN),
      ...{ stream: false, query, documents: readDocuments(fields.documents) },
      topN: readNumber(fields, 'top_n', { min: 1, max: MAX_DOCUMENTS, integer: true }),
      maxTokensPerDocument: readNumber(fields, 'max_tokens_per_doc', { min: 1, max: MAX_TOKENS, integer: true }),
    };
  },
  encodeResponse: ({ results }, summary) => ({
    id: summary.requestId,
    model: summary.model,
    results: results.map(({ index, score }) => ({ index, relevance_score: score })),
    meta: { api_version: { version: '2' }, billed_units: billedUnits(summary) },
    ...encodeFacts(summary),
  }),
};

function billedUnits({ usage }: TaskSummary): JsonObject {
  const tokens = promptTokens(usage);
  const searches = usage.units?.searches;
  return {
    ...(searches === undefined ? {} : { search_units: searches }),
    ...(tokens === 0 ? {} : { input_tokens: tokens }),
  };
}

/** Texts, or objects with one: other APIs send `{text}`. */
function readDocuments(documents: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(documents)) throw mustBe('documents', 'an array', documents);
  if (documents.length === 0) throw invalid('documents', '"documents" must not be empty.');
  if (documents.length > MAX_DOCUMENTS) {
    throw invalid('documents', `"documents" may have at most ${MAX_DOCUMENTS} entries, but has ${documents.length}.`);
  }
  return documents.map((document, index) => {
    const path = `documents.${index}`;
    if (typeof document === 'string') return document;
    if (!isObject(document)) throw invalid(path, `"${path}" must be a text, but is ${kindOf(document)}.`);
    return requiredText(document, 'text', path);
  });
}
