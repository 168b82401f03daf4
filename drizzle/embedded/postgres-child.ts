// Embedded Postgres: PGlite in a separate process, so that it never blocks the gateway's event loop. On a lost parent
// or a fatal error it exits at once, which the write-ahead log makes safe.
import { writeFileSync } from 'node:fs';
import { lowerPriority } from '@llm0/core/threads/lower-priority';
import { processIdentity } from './data-dir-lock';
import { keepFilesPrivate } from './private-files';
import { servePostgres } from './serve-postgres';

const [dataDir, socketPath, identityFile] = process.argv.slice(2);
if (dataDir === undefined || socketPath === undefined || identityFile === undefined) {
  throw new Error('usage: postgres-child <data folder> <socket> <identity file>');
}

keepFilesPrivate();
// Requests come first: the gateway decides, and rows may arrive later.
lowerPriority(5);
// The parent handles signals to the group (Ctrl-C, a service manager) and sends `stop` at the end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
writeFileSync(identityFile, processIdentity(process.pid) ?? String(process.pid), { mode: 0o600 });

const close = await servePostgres({ dataDir, socketPath });
console.log('ready');

process.stdin.on('data', async (text) => {
  if (!text.toString().includes('stop')) return;
  await close();
  process.exit(0);
});
process.stdin.on('end', () => process.exit(0));
process.stdin.on('close', () => process.exit(0));
