// Requests and tokens a minute of organizations, teams and users: the rules for both stores. They hold in all projects.
import type { Level } from './budgets';

/** null = any number. */
export interface LevelLimit {
  readonly level: Level;
  /** Names its buckets: `o<organization>`, `t<team>`, `u<user>`. */
  readonly id: string;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** Limits above a key, the widest first. `text`: id, requests and tokens of each ('-' = any), as the Redis scripts take them. */
export interface LevelLimits {
  readonly list: readonly LevelLimit[];
  readonly text: string;
}

/** What a level sets. */
export interface SetLevelLimits {
  readonly level: Level;
  readonly id: string;
  readonly rateLimitPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** undefined without any: then a request pays nothing for them. */
export function compileLevelLimits(levels: readonly SetLevelLimits[]): LevelLimits | undefined {
  const list = levels
    .filter(({ rateLimitPerMinute, tokensPerMinute }) => rateLimitPerMinute !== null || tokensPerMinute !== null)
    .map(({ level, id, rateLimitPerMinute: requestsPerMinute, tokensPerMinute }) => ({
      ...{ level, id: `${level.slice(0, 1)}${id}`, requestsPerMinute, tokensPerMinute },
    }));
  const text = list.map((one) => `${one.id} ${one.requestsPerMinute ?? '-'} ${one.tokensPerMinute ?? '-'}`).join(' ');
  return list.length === 0 ? undefined : { list, text };
}

const PREFIX = 'T';

/** Buckets that a hold took tokens from: `T<id>:<tokens a minute>` of each, among the counters of its budgets. */
export const tokenNamesOf = ({ list }: LevelLimits): readonly string[] =>
  list.flatMap(({ id, tokensPerMinute }) => (tokensPerMinute === null ? [] : [`${PREFIX}${id}:${tokensPerMinute}`]));

/** Level and its tokens a minute of such a name; undefined for a budget's. */
export function readTokenName(name: string): { readonly id: string; readonly tokensPerMinute: number } | undefined {
  if (!name.startsWith(PREFIX)) return undefined;
  const cut = name.lastIndexOf(':');
  return { id: name.slice(PREFIX.length, cut), tokensPerMinute: Number(name.slice(cut + 1)) };
}
