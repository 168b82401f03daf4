import { type JsonObject, present } from '@llm0/core/chat/json';
import type { RerankAnswer, RerankRequest } from '@llm0/core/tasks/rerank';
import type { TaskPart } from '../../tasks';
import { isLargeInput, jsonBody } from '../../translation/json-body';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { readRanking } from '../../translation/rerank-results';
import { invokeRequest } from '../endpoint';
import { PROVIDER } from '../wire';

const COHERE = /(?:^|[./])cohere\.rerank-/;
const AMAZON = /(?:^|[./])amazon\.rerank-/;
/** Of Cohere's API that the model speaks. */
const API_VERSION = 2;

/** Reports no usage: a search is as large as its documents. Source: https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-supported.html */
export const rerank: TaskPart<RerankRequest, RerankAnswer> = {
  serves: (model) => COHERE.test(model) || AMAZON.test(model),
  encodeRequest(request, context) {
    const { query, documents, topN, maxTokensPerDocument: limit, user, extra } = request;
    const { connection, model } = context;
    const isCohere = COHERE.test(model);
    const dropped = new DroppedParameters(context);
    if (limit !== undefined && !isCohere) dropped.refuse('max_tokens_per_doc', 'is not understood by');
    for (const name of Object.keys(extra)) dropped.refuse(name, 'is not understood by');
    if (user !== undefined) dropped.note('user');
    const body: JsonObject = {
      ...{ query, documents: [...documents] },
      ...present({ top_n: topN }),
      ...(isCohere ? present({ api_version: API_VERSION, max_tokens_per_doc: limit }) : {}),
    };
    const text = jsonBody(body, isLargeInput(documents));
    return { ...invokeRequest({ connection, model, body: text }), dropped: dropped.names() };
  },
  decodeResponse: (body, { documents }) => ({ answer: readRanking(PROVIDER, body.results, documents.length) }),
};
