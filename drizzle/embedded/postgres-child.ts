// Embedded Postgres: PGlite in a separate process, so that it never blocks the gateway's event loop. On a lost parent
// or a fatal error it exits at once, which the write-ahead log makes safe.
import { rmSync, writeFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { lowerPriority } from '@llm0/core/threads/lower-priority';
import { processIdentity } from './data-dir-lock';
import { keepFilesPrivate } from './private-files';

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

const db = await PGlite.create({ dataDir, extensions: { vector }, relaxedDurability: false });
const execute = db.execProtocolRawStream.bind(db);
db.execProtocolRawStream = async (message, options) => {
  try {
    return await execute(message, options);
  } catch (error) {
    // The socket server would hang after the failed message; a fresh process recovers from its log.
    console.error(error);
    process.exit(70);
  }
};

rmSync(socketPath, { force: true });
const server = new PGLiteSocketServer({ db, path: socketPath, maxConnections: 2 });
await server.start();
console.log('ready');

process.stdin.on('data', async (text) => {
  if (!text.toString().includes('stop')) return;
  await server.stop();
  await db.close();
  process.exit(0);
});
process.stdin.on('end', () => process.exit(0));
process.stdin.on('close', () => process.exit(0));
