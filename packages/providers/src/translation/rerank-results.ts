import type { JsonValue } from '@llm0/core/chat/json';
import type { RerankAnswer } from '@llm0/core/tasks/rerank';
import { upstreamFailure } from '../transport/upstream-failure';
import { asObjects } from './read-json';

/** Ranked documents, as Cohere's format and those after it write them. Throws for places that no document has. */
export function readRanking(provider: string, results: JsonValue | undefined, documents: number): RerankAnswer {
  const ranked = asObjects(results).map(({ index, relevance_score: score }) => {
    const isPlace = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < documents;
    if (!isPlace || typeof score !== 'number') throw noRanking(provider);
    return { index, score };
  });
  if (ranked.length === 0) throw noRanking(provider);
  return { results: ranked };
}

const noRanking = (provider: string) => upstreamFailure('malformed', provider, 'answered without a ranking.');
