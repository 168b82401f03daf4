// Runs the commands of each page in order, against one gateway with a fake provider; names those that can't run, and why.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@llm0/gateway/cli/run-command';
import { startOnServers } from '../e2e/environment';
import { fakePicture } from '../fake-upstream/render-tasks';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream';
import { callAdmin, type GatewayProcess } from '../stores/start-gateway';
import { ROOT, readPages } from './read-pages';
import { codeBlocks, shellCommands, wordsOf } from './shell-commands';

/** Commands that don't run here, and why. */
const NOT_RUN: readonly (readonly [reason: string, command: RegExp])[] = [
  ['sets a variable', /^(?:export )?[A-Z_\d]+=\S*(?:"[^"]*")?$/],
  ['fills a variable by a program of the system', /^AUTH=\$\(/],
  ['starts another gateway, as start-messages.e2e.nightly.test.ts does', /^(?:[A-Z_\d]+=\S* )*bun start$/],
  ['needs a client of a vendor, as command-lines.nightly.test.ts does', /^(?:aider|claude|codex|gemini)\b/],
  ['needs containers or a cluster', /^(?:REDIS_IMAGE=\S+ )?(?:docker|helm|kubectl) /],
  ['changes the machine', /^(?:git clone|pg_dump|pg_restore|install|systemctl|systemd-run|pip) |^bun -e /],
  ['runs for minutes', /^bun run (?:test|chaos|attack|bench|guardrail-matrix)\b|^bun bench\//],
  [
    'works on files and stores, as import-command.test.ts, config-file.test.ts and reset-admin-token.e2e.test.ts do',
    /llm0 (?:import|reset-admin-token|migrate|plan|apply|export)\b/,
  ],
  ['opens a browser, as login-commands.test.ts does', /llm0 (?:login|env)\b/],
  ['needs ClickHouse, as log-database.e2e.nightly.test.ts has', /llm0 logs move\b/],
  ['calls a server of the reader', /llm0 mcp (?:servers add|tools (?:list|approve)) |\/admin\/v1\/mcp\/servers /],
];
const reasonOf = (line: string) => NOT_RUN.find(([, command]) => command.test(line))?.[0];
const pages = readPages().flatMap((page) => {
  const lines = shellCommands(page);
  return lines.length === 0 ? [] : [[page.path, lines] as const];
});

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let backend: Bun.Server<undefined>;
const variables: Record<string, string> = { PROVIDER_KEY: 'sk-documented', USD_PER_SEARCH: '0.002' };

beforeAll(async () => {
  upstream = startFakeUpstream();
  backend = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('fine') });
  const at = `http://127.0.0.1:${backend.port}`;
  gateway = await startOnServers({
    OPENAI_API_KEY: 'sk-fake-upstream-key',
    OPENAI_BASE_URL: upstream.baseUrl,
    MISTRAL_API_KEY: 'sk-fake-upstream-key',
    MISTRAL_BASE_URL: upstream.baseUrl,
    DEMO_PROVIDER: 'on',
    PY_SERVICE_URL: at,
    BACKEND_SEARCH_URL: at,
    EGRESS_ALLOW: '127.0.0.1',
  });
  variables.GATEWAY = gateway.url;
  variables.ADMIN_TOKEN = gateway.adminToken;
  for (const name of ['shop', 'agents', 'web']) await createProject(name);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await backend.stop(true);
});

/** Projects that pages assume; the key is of one that no page changes. */
async function createProject(name: string): Promise<void> {
  const { id } = await callAdmin<{ id: string }>(gateway, '/projects', { body: { name } });
  for (const key of ['ads', 'ci']) {
    const made = await callAdmin<{ key: string }>(gateway, `/projects/${id}/keys`, { body: { name: key } });
    if (name === 'agents') variables.LLM0_KEY = made.key;
  }
}

/** Removes the things that a page is about to create. */
async function makeRoom(lines: readonly string[]): Promise<void> {
  const created = lines.flatMap((line) => / (projects|providers) create (?:--name )?(\S+)/.exec(line)?.slice(1) ?? []);
  for (const kind of ['projects', 'providers'].filter((each) => created.includes(each))) {
    const { data } = await callAdmin<{ data: { id: string; name: string; is_stored?: boolean }[] }>(
      gateway,
      `/${kind}`,
    );
    for (const { id, name } of data.filter((each) => created.includes(each.name) && each.is_stored !== false))
      await callAdmin(gateway, `/${kind}/${kind === 'projects' ? id : name}`, { method: 'DELETE' });
  }
}

/** As the shell would have it: variables filled in, the reader's hosts and gateway replaced by ours. */
const filled = (line: string) =>
  line
    .replaceAll(/\$([A-Z_\d]+)/g, (_, name: string) => variables[name] ?? '')
    .replaceAll(/http:\/\/(?:127\.0\.0\.1|localhost):8080/g, gateway.url)
    .replaceAll(/https:\/\/\w+\.example\.com/g, upstream.url);

async function runLine(line: string): Promise<string> {
  const words = wordsOf(filled(line).replace(/\s+[|>].*$/, ''));
  while (/^[A-Z_]+=/.test(words[0] ?? '')) words.shift();
  if (words[0] === 'curl') return runCurl(words.slice(1));
  if (words.slice(0, 3).join(' ') !== 'bun run llm0') return 'unknown command';
  const told: string[] = [];
  const args = words.slice(3);
  const code = await runCommand(args.join(' ').startsWith('logs tail') ? [...args, '--no-follow'] : args, {
    version: '',
    env: { ...variables, ADMIN_TOKEN: gateway.adminToken, LLM0_URL: gateway.url },
    fetch,
    out: (text) => told.push(text),
    err: (text) => told.push(text),
    write: async () => {},
    ask: async () => 'n',
    signal: AbortSignal.timeout(10_000),
  });
  return code === 0 ? 'ok' : told.join('\n');
}

const fileOf = (name: string) =>
  name.endsWith('.mp3') ? Buffer.from('ID3 a recording') : Buffer.from(fakePicture(name), 'base64');

async function runCurl(words: readonly string[]): Promise<string> {
  const headers = new Headers();
  let url = '';
  let body: string | FormData | undefined;
  for (let i = 0; i < words.length; i++) {
    const [word = '', next = ''] = [words[i], words[i + 1]];
    if (word === '-H') headers.append(next.slice(0, next.indexOf(':')), next.slice(next.indexOf(':') + 1).trim());
    else if (word === '-d') body = next;
    else if (word === '-F') {
      const form: FormData = body instanceof FormData ? body : new FormData();
      const [, name = '', at, value = ''] = /^(\w+)=(@?)(.*)$/.exec(next) ?? [];
      if (at === '@') form.append(name, new Blob([fileOf(value)]), value);
      else form.append(name, value);
      body = form;
    } else if (!word.startsWith('-')) url = word;
    if (/^-[HdF]$/.test(word)) i++;
  }
  const answer = await fetch(url, { method: body === undefined ? 'GET' : 'POST', headers, body });
  const text = await answer.text();
  if (url.endsWith('/v1/files')) variables.FILE_ID = (JSON.parse(text) as { id: string }).id;
  return answer.ok ? 'ok' : `${answer.status} ${text}`;
}

test.each(pages)('%s: commands work as written', async (_, lines) => {
  const runnable = lines.filter((line) => reasonOf(line) === undefined);
  await makeRoom(runnable);
  const outcomes: string[] = [];
  for (const line of runnable) outcomes.push(`${line} → ${await runLine(line)}`);
  expect(outcomes).toEqual(runnable.map((line) => `${line} → ok`));
});

test('every reason not to run a command has a command', () => {
  const all = pages.flatMap(([, lines]) => lines);
  expect(NOT_RUN.filter(([, command]) => !all.some((line) => command.test(line))).map(([reason]) => reason)).toEqual(
    [],
  );
});

test('every code block names its language', () => {
  const nameless = readPages().flatMap(({ path, text }) =>
    codeBlocks(text).flatMap(({ language, code }) => (language === '' ? [`${path}: ${code.slice(0, 40)}`] : [])),
  );
  expect(nameless).toEqual([]);
});

test('scripts that the documentation runs exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const named = readPages().flatMap(({ text }) =>
    [...text.matchAll(/bun run ([a-z][\w:-]*)/g)].map(([, name = '']) => name),
  );
  expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([]);
});
