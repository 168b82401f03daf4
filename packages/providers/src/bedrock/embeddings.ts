import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import { type EmbeddingAnswer, type EmbeddingsPart, requireText } from '../embeddings';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { type AnswerBody, asCount, asObject, asObjects, parseAnswer } from '../translation/read-json';
import { DroppedParameters } from '../translation/refuse-parameter';
import { invokeRequest } from './endpoint';
import { PROVIDER } from './wire';

/** Request format of a model family. */
interface Family {
  readonly pattern: RegExp;
  readonly maxInputs: number;
  /** The family's own fields that callers may add. */
  readonly ownFields: readonly string[];
  readonly body: (texts: readonly string[], dimensions: number | undefined) => JsonObject;
}

/** Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html, …-embed.html, nova-embed */
const FAMILIES: readonly Family[] = [
  {
    pattern: /(?:^|[./])amazon\.titan-embed-/,
    maxInputs: 1,
    ownFields: ['normalize'],
    body: ([inputText = ''], dimensions) => ({ inputText, ...(dimensions === undefined ? {} : { dimensions }) }),
  },
  {
    pattern: /(?:^|[./])cohere\.embed-/,
    maxInputs: 96,
    ownFields: ['input_type', 'truncate'],
    body: (texts, dimensions) => ({
      texts: [...texts],
      input_type: 'search_document',
      embedding_types: ['float'],
      ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    }),
  },
  {
    pattern: /(?:^|[./])amazon\.nova-.*embed/,
    maxInputs: 1,
    ownFields: [],
    body: ([value = ''], dimensions) => ({
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'GENERIC_INDEX',
        ...(dimensions === undefined ? {} : { embeddingDimension: dimensions }),
        text: { truncationMode: 'NONE', value },
      },
    }),
  },
];

export const embeddings: EmbeddingsPart = {
  takesTokens: false,
  maxInputs: (model) => familyOf(model)?.maxInputs ?? 1,
  encodeRequest: encodeEmbeddings,
  decodeResponse: decodeEmbeddings,
};

const familyOf = (model: string) => FAMILIES.find(({ pattern }) => pattern.test(model));

function encodeEmbeddings(request: EmbeddingRequest, context: EncodeContext): UpstreamRequest {
  const dropped = new DroppedParameters(context);
  const family = familyOf(context.model);
  if (family === undefined) {
    throw invalidRequest('model', `The gateway can't create embeddings with ${context.model}.`);
  }
  const texts = request.inputs.map((input) => requireText(input, context.model));
  const own: JsonObject = {};
  for (const name in request.extra) {
    const value = request.extra[name];
    if (value === undefined || !family.ownFields.includes(name)) dropped.refuse(name, 'is not understood by');
    else own[name] = value;
  }
  if (request.user !== undefined) dropped.note('user');
  const body = JSON.stringify({ ...family.body(texts, request.dimensions), ...own });
  const { connection, model } = context;
  return { ...invokeRequest({ connection, model, body }), dropped: dropped.names() };
}

/** Header with the token count, for all families. */
const TOKENS_HEADER = 'x-amzn-bedrock-input-token-count';

function decodeEmbeddings(bytes: AnswerBody, headers: Headers): EmbeddingAnswer {
  const body = parseAnswer(PROVIDER, bytes);
  const tokens = Number(headers.get(TOKENS_HEADER) ?? 0) || asCount(body.inputTextTokenCount);
  return { encoded: listVectors(body), ...(tokens > 0 ? { inputTokens: tokens } : {}) };
}

/** `embedding: […]`, `embeddings: [[…]]`, `embeddings: {float: [[…]]}` or `embeddings: [{embedding: […]}]`. */
function listVectors(body: JsonObject): JsonValue[] {
  if (body.embedding !== undefined) return [body.embedding];
  const list = asObject(body.embeddings)?.float ?? body.embeddings;
  if (!Array.isArray(list)) return [];
  return Array.isArray(list[0]) ? list : asObjects(list).map((entry) => entry.embedding ?? null);
}
