import type { JsonObject } from '@llm0/core/chat/json';
import type { EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import type { EmbeddingAnswer, EmbeddingsPart } from '../embeddings';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { isLargeInput, jsonBody } from '../translation/json-body';
import { readInputUsage } from '../translation/read-counts';
import { type AnswerBody, asCount, asObjects, parseAnswer } from '../translation/read-json';
import { endpointOf } from './endpoint';

/** Differences between servers that speak this format. */
export interface EmbeddingQuirks {
  /** Vectors as base64, a quarter of the size; else the server's default. */
  readonly base64: boolean;
  readonly dimensionsField: string;
  readonly maxInputs: number;
  /** Inputs may be tokens of the vocabulary that clients count with. */
  readonly takesTokens: boolean;
  /** Knows `user`; else it is left out and named. */
  readonly takesUser: boolean;
}

/** Source: https://platform.openai.com/docs/api-reference/embeddings/create */
export const OPENAI_EMBEDDINGS: EmbeddingQuirks = {
  base64: true,
  dimensionsField: 'dimensions',
  maxInputs: 2048,
  takesTokens: true,
  takesUser: true,
};

/** Embeddings of a server that speaks the format. */
export function createEmbeddings(provider: string, quirks: EmbeddingQuirks): EmbeddingsPart {
  return {
    maxInputs: () => quirks.maxInputs,
    takesTokens: quirks.takesTokens,
    encodeRequest: (request, context) => encodeEmbeddings(request, context, quirks),
    decodeResponse: (body) => decodeEmbeddings(provider, body),
  };
}

function encodeEmbeddings(
  request: EmbeddingRequest,
  context: EncodeContext,
  { base64, dimensionsField, takesUser }: EmbeddingQuirks,
): UpstreamRequest {
  const { inputs, dimensions, user, extra } = request;
  const body: JsonObject = {
    ...extra,
    model: context.model,
    input: inputs.map((input) => (typeof input === 'string' ? input : [...input])),
  };
  if (base64) body.encoding_format = 'base64';
  if (dimensions !== undefined) body[dimensionsField] = dimensions;
  if (user !== undefined && takesUser) body.user = user;
  const dropped = user === undefined || takesUser ? [] : ['user'];
  return { ...endpointOf(context.connection, 'embeddings'), body: jsonBody(body, isLargeInput(inputs)), dropped };
}

function decodeEmbeddings(provider: string, bytes: AnswerBody): EmbeddingAnswer {
  const body = parseAnswer(provider, bytes);
  const entries = asObjects(body.data);
  const ordered = entries.toSorted((a, b) => asCount(a.index) - asCount(b.index));
  const inputTokens = readInputUsage(body.usage)?.inputTokens;
  return {
    encoded: ordered.map((entry) => entry.embedding),
    ...(inputTokens === undefined ? {} : { inputTokens }),
  };
}
