// Imports nothing: `bun start` uses it before anything is installed.

const NEEDED = /^(PATH|HOME|USER|LANG|LC_ALL|TZ|TMPDIR|XDG_(CACHE|CONFIG)_HOME|SSL_CERT_FILE)$/;
const FETCHING =
  /^(NPM_.*|BUN_(INSTALL|CONFIG).*|NODE_(AUTH_TOKEN|EXTRA_CA_CERTS)|(HTTPS?|ALL|NO)_PROXY|SSL_CERT_DIR|CI)$/i;

/** Variables that the Postgres client reads for missing URL parts, and the runtime for each connection by TLS. */
const CONNECTING = /^(PG[A-Z]+|USER|USERNAME|LOGNAME|NODE_TLS_REJECT_UNAUTHORIZED)$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that every program needs, without the gateway's settings. */
export const programEnvironment = (env: Environment): Record<string, string> => pick(env, (name) => NEEDED.test(name));

/** For programs that fetch packages: registries and proxies as well. */
export const installEnvironment = (env: Environment): Record<string, string> =>
  pick(env, (name) => NEEDED.test(name) || FETCHING.test(name));

/** For a thread with connections of its own to Postgres. */
export const databaseEnvironment = (env: Environment): Record<string, string> =>
  pick(env, (name) => CONNECTING.test(name));

function pick(env: Environment, isWanted: (name: string) => boolean): Record<string, string> {
  const wanted: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && isWanted(name)) wanted[name] = value;
  return wanted;
}
