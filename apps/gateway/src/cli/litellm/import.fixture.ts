import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminOptions, ENV_TOKEN, openAdmin } from '../../admin/admin.fixture';
import { runCommand } from '../run-command';

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export type Step = Readonly<Record<'what' | 'name' | 'outcome' | 'detail', string>>;

/** `llm0` against an admin API; `env` is what every run has. Commands don't know the database. */
export async function openImport(env: Readonly<Record<string, string>> = {}, options: AdminOptions = {}) {
  const [kind] = ON_ONE_DATABASE;
  if (kind === undefined) throw new Error('no database to test on');
  const admin = await openAdmin(kind, options);
  const folder = await mkdtemp(join(tmpdir(), 'llm0-litellm-'));
  const adminFetch = ((input: string, init?: RequestInit) => {
    const url = new URL(input);
    if (url.host !== 'gateway.test') throw new Error('Unable to connect');
    return admin.request(url.pathname.replace(/^\/admin/, '') + url.search, init);
  }) as unknown as typeof fetch;

  async function command(line: readonly string[], more = env, fetch = adminFetch): Promise<Told> {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCommand([...line], {
      env: { LLM0_URL: 'http://gateway.test', ADMIN_TOKEN: ENV_TOKEN, ...more },
      version: '',
      fetch,
      out: (text) => out.push(text),
      err: (text) => err.push(text),
      write: async () => {},
      ask: async () => undefined,
      signal: new AbortController().signal,
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }
  async function run(text: string, options: readonly string[] = [], more = env): Promise<Told> {
    const file = join(folder, 'config.yaml');
    await Bun.write(file, text);
    return command(['import', 'litellm', file, ...options], more);
  }
  const call = (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${ENV_TOKEN}`, 'content-type': 'application/json' };
    return adminFetch(`http://gateway.test/v1${path}`, { ...init, headers });
  };
  return {
    folder,
    fetch: adminFetch,
    database: admin.database,
    command,
    run,
    call,
    steps: async (text: string, options: readonly string[] = [], more = env): Promise<Step[]> => {
      const { out, err } = await run(text, [...options, '--json'], more);
      if (out === '') throw new Error(err);
      return (JSON.parse(out) as { steps: Step[] }).steps;
    },
    read: async (path: string) => (await (await call(path)).json()) as { data: Record<string, never>[] },
    close: async () => {
      await admin.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type ImportUnderTest = Awaited<ReturnType<typeof openImport>>;
