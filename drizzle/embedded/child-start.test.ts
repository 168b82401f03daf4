import { expect, test } from 'bun:test';
import { waitForReady } from './child-start';

const start = (script: string) =>
  Bun.spawn(['sh', '-c', script], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: {} });
const failure = async (script: string, words = '', mostMs?: number) => {
  const child = start(script);
  try {
    await waitForReady(child, () => words, mostMs);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

test('a child that does not start names its signal or its code, and its last words', async () => {
  expect(await failure('echo ready')).toBe('');
  expect(await failure('kill -9 $$')).toBe(
    'embedded Postgres did not start: it ended (SIGKILL; probably the memory ran out: a first start needs 1 GiB, later ones 512 MiB)',
  );
  expect(await failure('kill -6 $$')).toContain('it ended (SIGABRT)');
  expect(await failure('exit 70', 'no space left')).toBe(
    'embedded Postgres did not start: it ended (code 70) no space left',
  );
  expect(await failure('exec tail -f /dev/null', '', 50)).toContain('it was not ready in time');
});
