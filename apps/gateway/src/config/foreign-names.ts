import { type Environment, SECRET } from './values';

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

/** Names that are read only beside others. */
const BESIDE_OTHERS = [
  ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_REGION', 'AWS_DEFAULT_REGION'],
  ...['REDIS_CLUSTER', 'REDIS_PASSWORD', 'REDIS_DB'],
] as const;

/** Set names that nothing reads and that are near a known one. */
export function findMisspelt(env: Environment, read: ReadonlySet<string>): readonly MisspeltName[] {
  const plain = [...read, ...BESIDE_OTHERS];
  const known = new Set([...plain, ...plain.filter((name) => SECRET.test(name)).map((name) => `${name}_FILE`)]);
  return Object.keys(env)
    .filter((name) => !known.has(name) && isSet(env, name))
    .flatMap((name) => {
      const meant = nearest(name, known) ?? ofVendor(name, known) ?? oneWordShort(name, env, known) ?? usual(name, env);
      return meant === undefined ? [] : [{ name, meant }];
    });
}

/** Underscores and case don't count. Two letters may differ, in short names one, and in the shortest none. */
function nearest(name: string, known: ReadonlySet<string>): string | undefined {
  const written = letters(name);
  let [meant, least]: [string | undefined, number] = [undefined, 3];
  for (const one of known) {
    const read = letters(one);
    const most = read.length >= 10 ? 2 : Number(read.length >= 7);
    if (Math.abs(read.length - written.length) > most) continue;
    const distance = distanceOf(written, read);
    if (distance <= most && distance < least && beginsAlike(name, one)) [meant, least] = [one, distance];
  }
  return meant;
}

/** `SSL_CERT_FILE`, `CODE_SERVICE_URL`: a short first word that is another one names another thing. */
function beginsAlike(name: string, known: string): boolean {
  const head = known.split('_', 1)[0] ?? '';
  if (letters(name).startsWith(head)) return true;
  const word = (name.split('_', 1)[0] ?? '').toUpperCase();
  if (head.length > 4) return distanceOf(word, head) <= (head.length > 5 ? 2 : 1);
  return [...word].sort().join('') === [...head].sort().join('');
}

/** Letters more, less, other, or two neighbours that changed places (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (last[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      row[j] = Math.min(changed, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) row[j] = Math.min(row[j] ?? 0, (before[j - 2] ?? 0) + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

/** `OPENAI_KEY`, `OPENAI_API_TOKEN`, `OPENAI_API_BASE`: a vendor's setting by another name. */
function ofVendor(name: string, known: ReadonlySet<string>): string | undefined {
  const meant = name
    .toUpperCase()
    .replace(/_(?:API_?|SECRET_?|ACCESS_?)?(?:KEY|TOKEN)$/, '_API_KEY')
    .replace(/_(?:API_?)?(?:BASE|URL)$/, '_BASE_URL');
  return meant !== name && known.has(meant) ? meant : undefined;
}

/** `TLS_CERT`: the last word is missing. */
function oneWordShort(name: string, env: Environment, known: ReadonlySet<string>): string | undefined {
  if (name.length < 7) return undefined;
  const begin = `${name.toUpperCase()}_`;
  const longer = [...known].filter((one) => one.startsWith(begin) && !one.slice(begin.length).includes('_'));
  const [meant] = longer;
  return longer.length !== 1 || meant === undefined || isSet(env, meant) ? undefined : meant;
}

/** Variables that vendors' own clients read. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  GOOGLE_API_KEY: 'GEMINI_API_KEY',
  GOOGLE_GENERATIVE_AI_API_KEY: 'GEMINI_API_KEY',
  CLAUDE_API_KEY: 'ANTHROPIC_API_KEY',
  GROK_API_KEY: 'XAI_API_KEY',
};

/** Other programs use these names, so a hint helps only if the intended variable is missing. */
function usual(name: string, env: Environment): string | undefined {
  const meant = ELSEWHERE[name];
  return meant === undefined || isSet(env, meant) ? undefined : meant;
}

const isSet = (env: Environment, name: string): boolean => (env[name]?.trim() ?? '') !== '';
const letters = (name: string): string => name.replaceAll('_', '').toUpperCase().replace(/IES$/, 'YS');
