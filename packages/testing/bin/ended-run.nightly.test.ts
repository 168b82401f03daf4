import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TEST_MS = 120_000;

/** Pids of servers that a process started. */
function serversOf(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('redis-server'));
}

test(
  'a run that a signal ends leaves no server behind',
  async () => {
    // Other systems have no such files to look into.
    if (process.platform !== 'linux') return;
    const run = Bun.spawn(
      [process.execPath, '--no-env-file', join(import.meta.dir, 'test.ts'), 'core/src/limits/', '--workers', '4'],
      {
        // Stores of its own.
        env: { ...process.env, TEST_REDIS_URL: undefined, TEST_DATABASE_URL: undefined, LLM0_TEST_STORES: undefined },
        stdout: 'pipe',
        stderr: 'ignore',
      },
    );
    const output = run.stdout.getReader();
    const decoder = new TextDecoder();
    for (let text = ''; !text.includes('bun test v'); ) {
      const { value, done } = await output.read();
      if (done) throw new Error(`the run ended by itself: ${text}`);
      text += decoder.decode(value, { stream: true });
    }
    const servers = serversOf(run.pid);
    expect(servers.length).toBe(4);
    run.kill('SIGTERM');
    expect(await run.exited).toBe(1);
    expect(servers.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  },
  TEST_MS,
);
