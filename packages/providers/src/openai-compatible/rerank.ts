import { type JsonObject, present } from '@llm0/core/chat/json';
import type { RerankAnswer, RerankRequest } from '@llm0/core/tasks/rerank';
import { endpointOf } from '../openai/endpoint';
import type { TaskPart } from '../tasks';
import { isLargeInput, jsonBody } from '../translation/json-body';
import { readInputUsage } from '../translation/read-counts';
import { DroppedParameters } from '../translation/refuse-parameter';
import { readRanking } from '../translation/rerank-results';

/** Differences between servers that rerank at `/rerank`. */
export interface RerankQuirks {
  readonly topField: 'top_n' | 'top_k';
  readonly listField: 'results' | 'data';
  /** Takes `max_tokens_per_doc`; else it is refused. */
  readonly takesLimit: boolean;
  readonly models?: RegExp;
}

/** Reranking of a server after Cohere's format, which reports tokens. */
export function createRerank(provider: string, quirks: RerankQuirks): TaskPart<RerankRequest, RerankAnswer> {
  const { topField, listField, takesLimit, models } = quirks;
  return {
    serves: (model) => models?.test(model) !== false,
    encodeRequest(request, context) {
      const { query, documents, topN, maxTokensPerDocument: limit, user, extra } = request;
      const dropped = new DroppedParameters(context);
      if (user !== undefined) dropped.note('user');
      if (limit !== undefined && !takesLimit) dropped.refuse('max_tokens_per_doc', 'is not understood by');
      const body: JsonObject = {
        ...extra,
        ...{ model: context.model, query, documents: [...documents], return_documents: false },
        ...present({ [topField]: topN, max_tokens_per_doc: takesLimit ? limit : undefined }),
      };
      return {
        ...endpointOf(context.connection, 'rerank'),
        ...{ body: jsonBody(body, isLargeInput(documents)), dropped: dropped.names() },
      };
    },
    decodeResponse: (body, { documents }) => ({
      answer: readRanking(provider, body[listField], documents.length),
      usage: readInputUsage(body.usage),
    }),
  };
}
