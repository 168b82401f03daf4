// `bun run llm0 <noun> <verb>`: the admin API from a terminal.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureInstalled, ROOT } from './ensure-installed';

// Where something is installed it is not changed: a container's is read-only, and a gateway may run from it.
if (!existsSync(join(ROOT, 'node_modules')) && !(await ensureInstalled('start'))) process.exit(1);
const { runCommand } = await import('../src/cli/run-command');
const { version } = await import('../package.json');

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());

process.exitCode = await runCommand(process.argv.slice(2), {
  version,
  env: process.env,
  fetch,
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  write: async (part) => {
    await Bun.write(Bun.stdout, part);
  },
  ask,
  signal: interrupted.signal,
});

/** A line of the standard input; undefined at its end. */
function ask(question: string): Promise<string | undefined> {
  process.stderr.write(question);
  const lines = createInterface({ input: process.stdin });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(undefined));
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
  });
}
