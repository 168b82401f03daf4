import { type JsonObject, present } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { RerankAnswer, RerankRequest } from '@llm0/core/tasks/rerank';
import type { TaskPart } from '../../tasks';
import { isLargeInput, jsonBody } from '../../translation/json-body';
import { asNumber, asObject } from '../../translation/read-json';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { readRanking } from '../../translation/rerank-results';
import { endpointOf } from '../endpoint';
import { PROVIDER } from '../wire';

/** Fields of the vendor's own that callers may add. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['priority']);

/** Source: https://docs.cohere.com/reference/rerank */
export const rerank: TaskPart<RerankRequest, RerankAnswer> = {
  encodeRequest(request, context) {
    const { query, documents, topN, maxTokensPerDocument, user, extra } = request;
    const dropped = new DroppedParameters(context);
    const body: JsonObject = {
      ...{ model: context.model, query, documents: [...documents] },
      ...present({ top_n: topN, max_tokens_per_doc: maxTokensPerDocument }),
    };
    for (const [name, value] of Object.entries(extra)) {
      if (OWN_FIELDS.has(name)) body[name] = value;
      else dropped.refuse(name, 'is not understood by');
    }
    if (user !== undefined) dropped.note('user');
    return {
      ...endpointOf(context.connection, 'rerank'),
      ...{ body: jsonBody(body, isLargeInput(documents)), dropped: dropped.names() },
    };
  },
  decodeResponse: (body, { documents }) => ({
    answer: readRanking(PROVIDER, body.results, documents.length),
    usage: readUnits(asObject(asObject(body.meta)?.billed_units)),
  }),
};

function readUnits(units: JsonObject | undefined): Usage | undefined {
  const [searches, inputTokens = 0] = [asNumber(units?.search_units), asNumber(units?.input_tokens)];
  if (searches === undefined && inputTokens === 0) return undefined;
  return { ...ZERO_USAGE, inputTokens, ...(searches === undefined ? {} : { units: { searches } }) };
}
