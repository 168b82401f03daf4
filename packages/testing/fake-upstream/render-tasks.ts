import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';

/** How one endpoint answers; `usage` of the behaviour replaces what it counts, and null leaves it out. */
type RenderTask = (body: JsonObject, behaviour: FakeBehaviour) => JsonObject;

const countWords = (texts: readonly JsonValue[]) =>
  texts.reduce<number>((sum, text) => sum + String(text).split(/\s+/).length, 0);
const asList = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : [value ?? '']);

/** Share of the query's words that a document has. */
export function fakeScore(query: string, document: string): number {
  const words = query.toLowerCase().split(/\s+/);
  return words.filter((word) => document.toLowerCase().includes(word)).length / words.length;
}

function rank(body: JsonObject, top: JsonValue | undefined) {
  const scored = asList(body.documents).map((document, index) => {
    return { index, relevance_score: fakeScore(String(body.query), String(document)) };
  });
  return scored.sort((a, b) => b.relevance_score - a.relevance_score).slice(0, Number(top ?? scored.length));
}

const tokensOf = ({ usage }: FakeBehaviour, counted: number) =>
  usage === null ? undefined : (usage?.prompt ?? counted);
const pairTokens = ({ query, documents }: JsonObject) => countWords([query ?? '', ...asList(documents)]);
const withTokens = (body: JsonObject, behaviour: FakeBehaviour): JsonObject => {
  const total_tokens = tokensOf(behaviour, pairTokens(body));
  return total_tokens === undefined ? {} : { usage: { total_tokens } };
};

/** Endpoints of vendors beside chat and embeddings, by path. */
export const FAKE_TASKS = {
  '/v1/moderations': ({ model, input }, behaviour) => {
    const isOne = typeof input === 'string' || asList(input).some((part) => typeof part !== 'string');
    const texts = isOne ? [JSON.stringify(input)] : asList(input);
    const results = texts.map((text) => {
      const violence = String(text).includes('kill');
      return { flagged: violence, categories: { violence }, category_scores: { violence: violence ? 0.9 : 0.1 } };
    });
    const tokens = behaviour.usage === undefined ? undefined : tokensOf(behaviour, 0);
    return {
      id: 'modr-fake',
      model: model ?? '',
      results,
      ...(tokens === undefined ? {} : { usage: { prompt_tokens: tokens } }),
    };
  },
  '/v2/rerank': (body, behaviour) => {
    const search_units = tokensOf(behaviour, 1);
    return {
      id: 'fake',
      results: rank(body, body.top_n),
      meta: {
        api_version: { version: '2' },
        ...(search_units === undefined ? {} : { billed_units: { search_units } }),
      },
    };
  },
  '/v1/rerank': (body, behaviour) => ({
    model: body.model ?? '',
    results: rank(body, body.top_n),
    ...withTokens(body, behaviour),
  }),
  '/voyage/v1/rerank': (body, behaviour) => ({
    object: 'list',
    data: rank(body, body.top_k),
    ...withTokens(body, behaviour),
  }),
} as const satisfies Record<string, RenderTask>;
