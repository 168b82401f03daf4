import type { JsonObject } from '@llm0/core/chat/json';
import type { EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import { type EmbeddingAnswer, type EmbeddingsPart, requireText } from '../embeddings';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { isLargeInput, jsonBody } from '../translation/json-body';
import { readInputUsage } from '../translation/read-counts';
import { type AnswerBody, asObjects, asString, parseAnswer } from '../translation/read-json';
import { DroppedParameters } from '../translation/refuse-parameter';
import { embeddingsEndpoint, modelPath } from './endpoint';
import { PROVIDER } from './wire';

/** The caller's names of the vendor's own fields → the vendor's. */
const OWN_FIELDS: Readonly<Record<string, string>> = {
  task_type: 'taskType',
  taskType: 'taskType',
  title: 'title',
};
const MAX_INPUTS = 100;

/** Source: https://ai.google.dev/api/embeddings#method:-models.batchembedcontents */
export const embeddings: EmbeddingsPart = {
  takesTokens: false,
  maxInputs: () => MAX_INPUTS,
  encodeRequest: encodeEmbeddings,
  decodeResponse: decodeEmbeddings,
};

function encodeEmbeddings(request: EmbeddingRequest, context: EncodeContext): UpstreamRequest {
  const dropped = new DroppedParameters(context);
  const settings: JsonObject = { model: modelPath(context.model) };
  for (const name in request.extra) {
    const own = OWN_FIELDS[name];
    const value = asString(request.extra[name]);
    if (own === undefined || value === undefined) dropped.refuse(name, 'is not understood by');
    else settings[own] = value;
  }
  if (request.user !== undefined) dropped.note('user');
  if (request.dimensions !== undefined) settings.outputDimensionality = request.dimensions;
  const requests = request.inputs.map((input) => ({
    ...settings,
    content: { parts: [{ text: requireText(input, context.model) }] },
  }));
  return {
    ...embeddingsEndpoint(context),
    body: jsonBody({ requests }, isLargeInput(request.inputs)),
    dropped: dropped.names(),
  };
}

function decodeEmbeddings(bytes: AnswerBody): EmbeddingAnswer {
  const body = parseAnswer(PROVIDER, bytes);
  const inputTokens = readInputUsage(body.usageMetadata)?.inputTokens;
  return {
    encoded: asObjects(body.embeddings).map((entry) => entry.values),
    ...(inputTokens === undefined ? {} : { inputTokens }),
  };
}
