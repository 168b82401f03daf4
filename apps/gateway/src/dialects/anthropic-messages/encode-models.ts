import type { JsonObject } from '@llm0/core/chat/json';
import type { ModelCard, ModelShape } from '../dialect';
import { invalid } from '../read-fields';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

/** `GET /v1/models` in this format's shape. Source: https://platform.claude.com/docs/en/api/models */
export const modelShape: ModelShape = {
  isAsked: (headers) => headers.has('anthropic-version'),
  encodeModel,
  listParameters: ['limit', 'after_id', 'before_id', 'beta'],
  encodeList,
};

function encodeModel({ id, created, context_window, max_output_tokens, retires_at }: ModelCard): JsonObject {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(created * 1000).toISOString().replace('.000', ''),
    ...(context_window === undefined ? {} : { max_input_tokens: context_window }),
    ...(max_output_tokens === undefined ? {} : { max_tokens: max_output_tokens }),
    ...(retires_at === undefined ? {} : { retires_at }),
  };
}

/** One page: `limit` models after `after_id`, or before `before_id`. */
function encodeList(models: readonly ModelCard[], query: URLSearchParams): JsonObject {
  const limit = readLimit(query.get('limit'));
  const [after, before] = [query.get('after_id'), query.get('before_id')];
  const indexOf = (id: string, name: string) => {
    const index = models.findIndex((model) => model.id === id);
    if (index === -1) throw invalid(name, `"${name}" names no model of this list.`);
    return index;
  };
  const end = before === null ? models.length : indexOf(before, 'before_id');
  const from = after === null ? (before === null ? 0 : Math.max(0, end - limit)) : indexOf(after, 'after_id') + 1;
  const page = models.slice(from, Math.min(end, from + limit));
  return {
    data: page.map(encodeModel),
    has_more: before === null ? from + page.length < end : from > 0,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function readLimit(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalid('limit', `"limit" must be a whole number from 1 to ${MAX_LIMIT}.`);
}
