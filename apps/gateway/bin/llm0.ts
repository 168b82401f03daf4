// `bun run llm0 <noun> <verb>`: the admin API from a terminal.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from './ensure-installed';

// Where something is installed it is not changed: a container's is read-only, and a gateway may run from it.
if (!existsSync(join(ROOT, 'node_modules')) && !(await ensureInstalled('start'))) process.exit(1);
const { runCommand } = await import('../src/cli/run-command');

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  fetch,
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  signal: interrupted.signal,
});
