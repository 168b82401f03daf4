import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../run-command';

const NOBODY = (() => Promise.reject(new Error('nothing is asked'))) as unknown as typeof fetch;

/** Runs `llm0` with a home of its own; `onNote` sees each line for people. */
async function run(line: string, home: string, onNote: (text: string) => void = () => {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCommand(line.split(' '), {
    ...{ env: { LLM0_URL: 'https://gateway.test', XDG_CONFIG_HOME: home }, version: '1', fetch: NOBODY },
    out: (text) => out.push(text),
    err: (text) => {
      err.push(text);
      onNote(text);
    },
    write: async () => {},
    ask: async () => undefined,
    signal: new AbortController().signal,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

async function inHome(work: (home: string) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'llm0-login-'));
  try {
    await work(home);
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** What the dashboard does once the person allows it. */
async function give(note: string, form: Record<string, string>): Promise<Response> {
  const asked = new URL(note.slice(note.indexOf('https://')));
  expect(asked.href).toStartWith('https://gateway.test/connect?');
  const state = asked.searchParams.get('state') ?? '';
  const body = new URLSearchParams({ state, ...form });
  return fetch(`http://127.0.0.1:${asked.searchParams.get('port')}/`, { method: 'POST', body });
}

test('login keeps the key of the browser for its owner alone, and env prints it for each client', () =>
  inHome(async (home) => {
    expect(await run('env', home)).toMatchObject({ code: 1, err: expect.stringContaining('Run: llm0 login') });
    const expires = new Date(Date.now() + 60_000).toISOString();
    const given = { key: "llm0_live_it's", url: 'https://data.test', project: 'shop', expires_at: expires };
    let statuses: Promise<readonly number[]> | undefined;
    const answers = async (note: string) => [
      (await give(note, { ...given, state: 'of another page' })).status,
      (await give(note, given)).status,
    ];
    const login = await run('login --no-browser --days 7', home, (note) => {
      statuses ??= answers(note);
    });
    expect([login.code, await statuses]).toEqual([0, [400, 200]]);
    expect(login.out).not.toContain('llm0_live');
    const path = join(home, 'llm0/credentials.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { out } = await run('env', home);
    expect(out.split('\n')).toContain("export OPENAI_BASE_URL='https://data.test/v1'");
    expect(out.split('\n')).toContain("export ANTHROPIC_AUTH_TOKEN='llm0_live_it'\\''s'");
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...kept, expires_at: '2020-01-01T00:00:00Z' }));
    expect(await run('env', home)).toMatchObject({ code: 1, err: expect.stringContaining('expired') });
  }));

test('a refusal in the browser ends it, and wrong days are refused at once', () =>
  inHome(async (home) => {
    const refused = await run('login --no-browser', home, (note) => {
      if (note.includes('https://')) void give(note, { error: 'refused' });
    });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('No key was given.')]);
    expect((await run('login --days 31', home)).code).toBe(2);
  }));
