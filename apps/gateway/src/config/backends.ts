import { BACKEND_NAME, RESERVED_BACKEND_NAMES } from '@llm0/core/backends/backend';
import { ConfigError, type Environment, type EnvReader, redactUrl } from './values';

/** A plain HTTP backend as the environment names it. */
export interface BackendSetting {
  readonly name: string;
  readonly url: string;
}

/** The Go project's variables for its two services. */
const SERVICES = { PY_SERVICE_URL: 'py', NODE_SERVICE_URL: 'node' } as const;
const VARIABLE = /^BACKEND_([A-Za-z0-9_]+)_URL$/;
const MAX_BACKENDS = 100;

/** `BACKEND_<NAME>_URL`, `PY_SERVICE_URL` and `NODE_SERVICE_URL`; names in lower case. */
export function readBackendSettings(read: EnvReader, env: Environment): readonly BackendSetting[] {
  const found = new Map<string, BackendSetting>();
  const named = Object.keys(env).flatMap((variable) => {
    const name = VARIABLE.exec(variable)?.[1];
    return name === undefined ? [] : [[variable, name.toLowerCase()] as const];
  });
  for (const [variable, name] of [...named, ...Object.entries(SERVICES)]) {
    const url = readBaseUrl(read, variable);
    if (url === undefined) continue;
    const known = found.get(name);
    if (!BACKEND_NAME.test(name) || RESERVED_BACKEND_NAMES.has(name)) {
      throw new ConfigError(variable, redactUrl(url), 'a name of at most 32 letters, digits and underlines is needed');
    }
    if (known !== undefined && known.url !== url) {
      throw new ConfigError(variable, redactUrl(url), `the backend "${name}" already has another address`);
    }
    found.set(name, { name, url });
  }
  if (found.size > MAX_BACKENDS) throw new ConfigError('BACKEND_<NAME>_URL', '', `at most ${MAX_BACKENDS} are allowed`);
  return [...found.values()];
}

function readBaseUrl(read: EnvReader, variable: string): string | undefined {
  const url = read.url(variable);
  if (url === undefined) return undefined;
  const { username, password, search, hash } = new URL(url);
  if (username === '' && password === '' && search === '' && hash === '') return url;
  throw new ConfigError(variable, redactUrl(url), 'a URL without credentials, query or fragment is needed');
}

/** The cache of their answers. */
export function readHttpCache(read: EnvReader, hasRedis: boolean) {
  const kind = read.oneOf('CACHE_BACKEND', hasRedis ? 'redis' : 'memory', ['memory', 'redis']);
  if (kind === 'redis' && !hasRedis) throw new ConfigError('CACHE_BACKEND', 'redis', 'REDIS_URL is needed with it');
  return {
    enabled: read.flag('CACHE_ENABLED', true),
    kind,
    /** Default lifetime of answers without their own. */
    ttlMs: read.durationMs('CACHE_TTL', '60s'),
    maxEntries: read.integer('CACHE_MAX_ENTRIES', 10_000, { min: 1, max: 1_000_000 }),
  };
}
