import type { JsonObject } from '@llm0/core/chat/json';
import type { EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import { type EmbeddingAnswer, type EmbeddingsPart, requireText } from '../embeddings';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { isLargeInput, jsonBody } from '../translation/json-body';
import { readInputUsage } from '../translation/read-counts';
import { type AnswerBody, asObject, parseAnswer } from '../translation/read-json';
import { DroppedParameters } from '../translation/refuse-parameter';
import { endpointOf } from './endpoint';
import { PROVIDER } from './wire';

/** Fields of the vendor's own that callers may add. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['input_type', 'truncate', 'priority']);
const MAX_INPUTS = 96;

/** Source: https://docs.cohere.com/reference/embed */
export const embeddings: EmbeddingsPart = {
  takesTokens: false,
  maxInputs: () => MAX_INPUTS,
  encodeRequest: encodeEmbeddings,
  decodeResponse: decodeEmbeddings,
};

function encodeEmbeddings(request: EmbeddingRequest, context: EncodeContext): UpstreamRequest {
  const dropped = new DroppedParameters(context);
  const body: JsonObject = {
    model: context.model,
    texts: request.inputs.map((input) => requireText(input, context.model)),
    input_type: 'search_document',
    embedding_types: ['float'],
  };
  for (const name in request.extra) {
    const value = request.extra[name];
    if (value === undefined || !OWN_FIELDS.has(name)) dropped.refuse(name, 'is not understood by');
    else body[name] = value;
  }
  if (request.user !== undefined) dropped.note('user');
  if (request.dimensions !== undefined) body.output_dimension = request.dimensions;
  return {
    ...endpointOf(context.connection, 'embed'),
    body: jsonBody(body, isLargeInput(request.inputs)),
    dropped: dropped.names(),
  };
}

function decodeEmbeddings(bytes: AnswerBody): EmbeddingAnswer {
  const body = parseAnswer(PROVIDER, bytes);
  const vectors = asObject(body.embeddings)?.float;
  const inputTokens = readInputUsage(asObject(body.meta)?.billed_units)?.inputTokens;
  return {
    encoded: Array.isArray(vectors) ? vectors : [],
    ...(inputTokens === undefined ? {} : { inputTokens }),
  };
}
