import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ModerationAnswer, ModerationPart, ModerationRequest } from '@llm0/core/tasks/moderation';
import type { TaskPart } from '../../tasks';
import { isLargeInput, jsonBody } from '../../translation/json-body';
import { readInputUsage } from '../../translation/read-counts';
import { asObjects } from '../../translation/read-json';
import { upstreamFailure } from '../../transport/upstream-failure';
import { endpointOf } from '../endpoint';

/** Verdicts of a server that speaks the format. Source: https://platform.openai.com/docs/api-reference/moderations */
export function createModeration(provider: string, models: RegExp): TaskPart<ModerationRequest, ModerationAnswer> {
  return {
    serves: (model) => models.test(model),
    encodeRequest(request, { connection, model }) {
      const { inputs, extra } = request;
      const body: JsonObject = { ...extra, model, input: inputOf(request) };
      const texts = inputs.map((part) => (part.type === 'text' ? part.text : part.url));
      return { ...endpointOf(connection, 'moderations'), body: jsonBody(body, isLargeInput(texts)), dropped: [] };
    },
    decodeResponse(body, { inputs, isOne }) {
      const results = asObjects(body.results);
      const wanted = isOne ? 1 : inputs.length;
      if (results.length !== wanted) {
        throw upstreamFailure('malformed', provider, `sent ${results.length} verdicts for ${wanted} inputs.`);
      }
      return { answer: { results: results.map(withVerdict) }, usage: readInputUsage(body.usage) };
    },
  };
}

function inputOf({ inputs, isOne }: ModerationRequest): JsonValue {
  const [first] = inputs;
  if (isOne && inputs.length === 1 && first?.type === 'text') return first.text;
  return isOne ? inputs.map(encodePart) : inputs.map((part) => (part.type === 'text' ? part.text : part.url));
}

const encodePart = (part: ModerationPart): JsonObject =>
  part.type === 'text' ? { ...part } : { type: 'image_url', image_url: { url: part.url } };

/** Some vendors tell the categories alone. */
function withVerdict(result: JsonObject): JsonObject {
  if (typeof result.flagged === 'boolean') return result;
  return { flagged: Object.values((result.categories ?? {}) as JsonObject).includes(true), ...result };
}
