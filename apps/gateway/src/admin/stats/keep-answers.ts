import type { z } from '@hono/zod-openapi';
import type { Context, TypedResponse } from 'hono';
import type { StatsQuestion } from './answer-stats';
import type { StatsCache } from './stats-cache';

type Answer<S extends z.ZodType> = Response & TypedResponse<z.output<S>, 200, 'json'>;

/** Answers a question over a range from cache or database; `schema` describes the answer. */
export type AnswerKept = <S extends z.ZodType>(c: Context, question: StatsQuestion, schema: S) => Promise<Answer<S>>;

/** The answer is JSON already: an answer of a thousand buckets would hold up requests while it is written. */
export function keepAnswers(kept: StatsCache): AnswerKept {
  return async <S extends z.ZodType>(c: Context, question: StatsQuestion, _schema: S) => {
    const { json, ageMs } = await kept.answer(question, c.req.header('cache-control')?.includes('no-cache'));
    const headers = { 'Content-Type': 'application/json', Age: String(Math.floor(ageMs / 1000)) };
    return c.body(json, 200, headers) as unknown as Answer<S>;
  };
}
