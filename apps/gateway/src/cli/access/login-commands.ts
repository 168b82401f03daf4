// The browser makes the key: it has the session. It hands the key to this computer alone, by a form to a local port.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { programEnvironment } from '@llm0/core/threads/program-environment';
import { type LocalCommand, type LocalInput, UsageError } from '../command';
import { gatewayUrl } from '../own-gateway';

type Environment = LocalInput['env'];

/** A key of this computer. */
interface Credentials {
  /** Of the data plane, without a path. */
  readonly url: string;
  readonly key: string;
  readonly project: string;
  /** RFC 3339. */
  readonly expires_at: string;
}

const WAIT_MS = 5 * 60_000;
const DAYS = { least: 1, most: 30 };

export const LOGIN_COMMANDS: readonly LocalCommand[] = [
  {
    name: 'login',
    summary: 'Get a short-lived key for this computer through the browser',
    options: {
      days: { kind: 'number', help: 'days until the key expires, 1 to 30 (1)' },
      browser: { kind: 'flag', help: 'open a browser (on)' },
    },
    async runHere({ env, fields, say, note }) {
      const days = Number(fields.days ?? DAYS.least);
      if (!Number.isInteger(days) || days < DAYS.least || days > DAYS.most) {
        throw new UsageError(`--days must be a whole number from ${DAYS.least} to ${DAYS.most}`);
      }
      const { address, credentials } = waitForKey(gatewayUrl(env), days);
      note(`Allow the key in your browser: ${address}`);
      if (fields.browser !== false) openBrowser(address, env);
      const { waits, ...got } = await credentials;
      const path = pathOf(env);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, `${JSON.stringify(got, null, 2)}\n`, { mode: 0o600 });
      const { key: _, ...shown } = got;
      say(`The key works in project ${got.project} until ${got.expires_at}. To use it: eval "$(llm0 env)"`);
      if (waits) note('It waits until an admin of the team approves it.');
      return { ...shown, path };
    },
  },
  {
    name: 'env',
    summary: 'Print the key of `login` as variables for SDKs, Claude Code, Codex and Gemini CLI',
    async runHere({ env, say }) {
      const variables = variablesOf(readCredentials(env));
      for (const [name, value] of Object.entries(variables)) say(`export ${name}='${value.replaceAll("'", "'\\''")}'`);
      return variables;
    },
  },
];

/** What each client reads. */
const variablesOf = ({ url, key }: Credentials): Readonly<Record<string, string>> => ({
  ...{ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, LLM0_KEY: key },
  ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key },
  ...{ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key },
});

const pathOf = ({ XDG_CONFIG_HOME: home, HOME }: Environment): string =>
  join(home || join(HOME || homedir(), '.config'), 'llm0', 'credentials.json');

/** Throws without a key that works. */
function readCredentials(env: Environment): Credentials {
  let found: Credentials;
  try {
    found = JSON.parse(readFileSync(pathOf(env), 'utf8')) as Credentials;
  } catch {
    throw new Error('There is no key on this computer. Run: llm0 login');
  }
  if (Date.parse(found.expires_at) > Date.now()) return found;
  throw new Error(`The key of this computer expired at ${found.expires_at}. Run: llm0 login`);
}

/** Listens on a local port until the dashboard sends a key there. */
function waitForKey(url: string, days: number) {
  const state = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url');
  const { promise, resolve, reject } = Promise.withResolvers<Credentials & { readonly waits: boolean }>();
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    async fetch(request) {
      const form = new URLSearchParams(request.method === 'POST' ? await request.text() : new URL(request.url).search);
      if (form.get('state') !== state) return new Response('This is not the page that was asked.', { status: 400 });
      const [key, at, project, expires] = ['key', 'url', 'project', 'expires_at'].map((name) => form.get(name));
      if (request.method !== 'POST' || !key || !at || !project || !expires) {
        reject(new Error('No key was given.'));
        return new Response('No key was given. You can close this page.');
      }
      resolve({ url: at, key, project, expires_at: expires, waits: form.get('waits') === 'true' });
      return new Response('The key is on your computer. You can close this page.');
    },
  });
  const timer = setTimeout(() => reject(new Error('Nobody answered within five minutes.')), WAIT_MS);
  const credentials = promise.finally(() => {
    clearTimeout(timer);
    // The page still gets its answer.
    return server.stop();
  });
  const asked = new URLSearchParams({ port: String(server.port), state, days: String(days) });
  return { address: `${url}/connect?${asked}`, credentials };
}

function openBrowser(address: string, env: Environment): void {
  const program = ['xdg-open', 'open'].find((name) => Bun.which(name) !== null);
  if (program !== undefined)
    Bun.spawn([program, address], { env: programEnvironment(env), stdio: ['ignore', 'ignore', 'ignore'] }).unref();
}
