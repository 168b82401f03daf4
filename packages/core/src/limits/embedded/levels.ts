import type { LevelLimit, LevelLimits } from '../level-limits';
import { readTokenName } from '../level-limits';
import { adjustLevel, type BucketState, msUntilLevel, refillBucket, TOKEN_UNITS } from '../token-bucket';
import type { Denial } from './customer-requests';
import { type EmbeddedState, getOrAdd, type LevelState } from './state';

/** Buckets of a level after a decision, for the journal. */
export interface LevelEffect extends LevelState {
  readonly id: string;
}

const NONE: LevelState = {};
const stateOf = (state: EmbeddedState, { id }: Pick<LevelLimit, 'id'>) => state.levels.get(id) ?? NONE;
const refill = (bucket: BucketState | undefined, nowMs: number, rate: number) =>
  refillBucket(bucket, nowMs, rate, rate);

/** The first level whose requests are used up. */
export function checkLevelRequests(state: EmbeddedState, { list }: LevelLimits, nowMs: number): Denial | undefined {
  for (const limit of list) {
    const { level, requestsPerMinute: rate } = limit;
    if (rate === null) continue;
    const units = refill(stateOf(state, limit).requests, nowMs, rate);
    if (units < TOKEN_UNITS)
      return { reason: 'level_rate', level, retryAfterMs: msUntilLevel(units, TOKEN_UNITS, rate) };
  }
  return undefined;
}

/** The first level that has not as many tokens. */
export function checkLevelTokens(
  state: EmbeddedState,
  { list }: LevelLimits,
  { tokens, nowMs }: { readonly tokens: number; readonly nowMs: number },
): Denial | undefined {
  for (const limit of list) {
    const { level, tokensPerMinute: rate } = limit;
    if (rate === null) continue;
    if (tokens > rate) return { reason: 'level_tokens_over_limit', level };
    const units = refill(stateOf(state, limit).tokens, nowMs, rate);
    const need = tokens * TOKEN_UNITS;
    if (units < need) return { reason: 'level_tokens_rate', level, retryAfterMs: msUntilLevel(units, need, rate) };
  }
  return undefined;
}

/** Takes a request from each, and tokens where they are given. */
export function takeLevels(
  state: EmbeddedState,
  { list }: LevelLimits,
  { tokens, nowMs }: { readonly tokens?: number; readonly nowMs: number },
): readonly LevelEffect[] {
  const take = (bucket: BucketState | undefined, rate: number | null, count: number | undefined) =>
    rate === null || count === undefined
      ? bucket
      : { level: refill(bucket, nowMs, rate) - count * TOKEN_UNITS, atMs: nowMs, burst: rate };
  return list.map((limit) => {
    const known = stateOf(state, limit);
    return {
      id: limit.id,
      requests: take(known.requests, limit.requestsPerMinute, 1),
      tokens: take(known.tokens, limit.tokensPerMinute, tokens),
    };
  });
}

export function setLevels(state: EmbeddedState, levels: readonly LevelEffect[]): void {
  for (const { id, ...level } of levels) state.levels.set(id, level);
}

/** Buckets as they are, for a rollback. */
export const levelsBefore = (state: EmbeddedState, levels: readonly LevelEffect[]): readonly LevelEffect[] =>
  levels.map(({ id }) => ({ id, ...stateOf(state, { id }) }));

/** A clock that moved back is stored even by a denial: otherwise the bucket would stop until it catches up. */
export function stepLevelsBack(state: EmbeddedState, { list }: LevelLimits, nowMs: number): void {
  for (const { id, requestsPerMinute, tokensPerMinute } of list) {
    const known = state.levels.get(id);
    const step = (bucket: BucketState | undefined, rate: number | null) =>
      bucket === undefined || rate === null || nowMs >= bucket.atMs
        ? bucket
        : { level: refill(bucket, nowMs, rate), atMs: nowMs, burst: rate };
    if (known === undefined) continue;
    state.levels.set(id, {
      requests: step(known.requests, requestsPerMinute),
      tokens: step(known.tokens, tokensPerMinute),
    });
  }
}

/** Gives back what was estimated too much, or owes what was too little, by the limit of now. */
export function adjustLevels(
  state: EmbeddedState,
  counters: string,
  { differenceTokens, atMs }: { readonly differenceTokens: number; readonly atMs: number },
): void {
  for (const name of counters.split(' ')) {
    const named = readTokenName(name);
    if (named === undefined) continue;
    const known = getOrAdd<string, LevelState>(state.levels, named.id, () => ({}));
    const limit = known.tokens?.burst ?? named.tokensPerMinute;
    const level = adjustLevel(refill(known.tokens, atMs, limit), differenceTokens, limit);
    state.levels.set(named.id, { ...known, tokens: { ...known.tokens, level, atMs } });
  }
}
