// Commands are parsed, and their scripts looked up: running them all would need accounts, clusters and an hour.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@llm0/gateway/cli/run-command';
import { ROOT, readPages } from './read-pages';

const SHELL = /^(\s*)```(?:sh|bash|)\n([\s\S]*?)^\1```/gm;

/** Lines of shell blocks, those that go on joined; comments and what a pipe or a file gets aside. */
const lines = readPages().flatMap(({ path, text }) =>
  [...text.matchAll(SHELL)].flatMap(([, , block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, ' ')
      .replaceAll(/'[^']*'/g, (quoted) => quoted.replaceAll(/\s*\n\s*/g, ' '))
      .split('\n')
      .map((line) => ({
        path,
        line: line
          .replace(/\s+#.*$/, '')
          .replace(/\s+[|>].*$/, '')
          .trim(),
      })),
  ),
);

const commands = lines.flatMap(({ path, line }) => {
  const [, command] = /(?:bun run|^) ?llm0 (.+)$/.exec(line) ?? [];
  return command === undefined || command.startsWith('…') ? [] : [[path, command] as const];
});

test('there are commands to look at', () => {
  expect(commands.length).toBeGreaterThan(15);
});

/** Words of a shell line; quotes hold some together. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:'([^']*)'|"([^"]*)"|([^\s'"]+))+/g)].map(([word]) => word.replaceAll(/^['"]|['"]$/g, ''));

test.each(commands)('%s: llm0 %s', async (_, command) => {
  const told: string[] = [];
  const words = wordsOf(command);
  // Those that work on the stores themselves are asked for their help alone.
  const isLocal =
    ['reset-admin-token', 'migrate', 'demo-data'].includes(words[0] ?? '') || words.join(' ').startsWith('import');
  const code = await runCommand(isLocal ? [...words, '--help'] : words, {
    version: '',
    env: { ADMIN_TOKEN: 'x'.repeat(20), LLM0_URL: 'http://gateway.test', PROVIDER_KEY: 'k' },
    fetch: (async () => Response.json({ error: { code: 'nowhere', message: '' } }, { status: 404 })) as never,
    out: (text) => told.push(text),
    err: (text) => told.push(text),
    write: async () => {},
    ask: async () => 'n',
    signal: AbortSignal.timeout(1_000),
  });
  expect([told.join('\n'), code]).toEqual([told.join('\n'), isLocal ? 0 : 1]);
});

test('scripts that the documentation runs exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const named = readPages().flatMap(({ text }) =>
    [...text.matchAll(/bun run ([a-z][\w:-]*)/g)].map(([, name = '']) => name),
  );
  expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([]);
});
