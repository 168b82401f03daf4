import type { AnyRouteContext } from '../admin-router';
import type { StatsQuestion } from './answer-stats';
import type { StatsCache } from './stats-cache';

/** Answers a question over a range from cache or database. */
export type AnswerKept = (c: AnyRouteContext, question: StatsQuestion) => Promise<Response>;

/** The answer is JSON already: an answer of a thousand buckets would hold up requests while it is written. */
export function keepAnswers(kept: StatsCache): AnswerKept {
  return async (c, question) => {
    const { json, ageMs } = await kept.answer(question, c.req.header('cache-control')?.includes('no-cache'));
    return c.body(json, 200, { 'Content-Type': 'application/json', Age: String(Math.floor(ageMs / 1000)) });
  };
}
