import type { Environment } from './values';

/** Names of the Go project that have no meaning here: pools, caches and retries that are made otherwise. */
const GO_NAMES = [
  'DB_MAX_CONNS',
  'DB_MIN_CONNS',
  'DB_MAX_OPEN_CONNS',
  'DB_MAX_IDLE_CONNS',
  'DB_CONN_MAX_LIFETIME',
  'DB_MAX_CONN_LIFETIME',
  'DB_MAX_CONN_IDLE_TIME',
  'DB_HEALTH_CHECK_PERIOD',
  'REDIS_POOL_SIZE',
  'REDIS_MIN_IDLE_CONNS',
  'REDIS_MAX_RETRIES',
  'REDIS_DIAL_TIMEOUT',
  'REDIS_READ_TIMEOUT',
  'REDIS_WRITE_TIMEOUT',
  'REDIS_POOL_TIMEOUT',
  'LOG_WORKER_COUNT',
  'LOG_BUFFER_SIZE',
  'LOG_BATCH_SIZE',
  'LOG_FLUSH_INTERVAL',
  'REDIS_MIN_RETRY_BACKOFF',
  'REDIS_MAX_RETRY_BACKOFF',
  'HOT_KEY_CACHE_TTL',
  'CUSTOMER_LIMIT_CACHE_TTL_SECONDS',
  'TLS_SESSION_CACHE_SIZE',
] as const;

/** Settings without effect. */
export const ignoredNames = (env: Environment): readonly string[] => GO_NAMES.filter((name) => isSet(env, name));

export interface MisspeltName {
  readonly name: string;
  readonly meant: string;
}

/** Shorter names are too easily near to something else. */
const MIN_LENGTH = 8;

/** Set names that nothing reads and that differ from a known one by an underscore or a letter. */
export function findMisspelt(env: Environment, known: ReadonlySet<string>): readonly MisspeltName[] {
  return Object.keys(env)
    .filter((name) => name.length >= MIN_LENGTH && !known.has(name) && isSet(env, name))
    .flatMap((name) => {
      const meant =
        [...known].find((one) => one.length >= MIN_LENGTH && isNear(letters(name), letters(one))) ??
        ofVendor(name, known) ??
        usualElsewhere(name, env);
      return meant === undefined ? [] : [{ name, meant }];
    });
}

/** `OPENAI_KEY`, `OPENAI_API_TOKEN`: a vendor's key by another name. */
function ofVendor(name: string, known: ReadonlySet<string>): string | undefined {
  const meant = name.replace(/_(?:API_?|SECRET_?|ACCESS_?)?(?:KEY|TOKEN)$/i, '_API_KEY').toUpperCase();
  return meant !== name && known.has(meant) ? meant : undefined;
}

/** Variables that vendors' own clients read. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  GOOGLE_API_KEY: 'GEMINI_API_KEY',
  GOOGLE_GENERATIVE_AI_API_KEY: 'GEMINI_API_KEY',
  CLAUDE_API_KEY: 'ANTHROPIC_API_KEY',
};

/** Other programs use these names, so a hint helps only if the intended variable is missing. */
function usualElsewhere(name: string, env: Environment): string | undefined {
  const meant = ELSEWHERE[name];
  return meant === undefined || isSet(env, meant) ? undefined : meant;
}

const isSet = (env: Environment, name: string): boolean => (env[name]?.trim() ?? '') !== '';
const letters = (name: string): string => name.replaceAll('_', '').toUpperCase();

/** Equal but for one letter more, less, other, or two that changed places. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from++;
  let back = 0;
  while (back < Math.min(a.length, b.length) - from && a[a.length - 1 - back] === b[b.length - 1 - back]) back++;
  const [restA, restB] = [a.slice(from, a.length - back), b.slice(from, b.length - back)];
  if (restA.length <= 1 && restB.length <= 1) return true;
  return restA.length === 2 && restA === [...restB].reverse().join('');
}
