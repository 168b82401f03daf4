// The embedded Postgres: PGlite in a process of its own, so that its synchronous work never stops the gateway's event loop.
// Parent gone or anything PGlite cannot recover from: this process exits at once; the write-ahead log makes that safe.
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
// Requests come first: what they wait for is decided in the gateway, and rows may come a little later.
lowerPriority(5);
// Signals to the whole group (Ctrl-C, a service manager) are the parent's to answer: it says `stop` when it is done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
writeFileSync(identityFile, processIdentity(process.pid) ?? String(process.pid), { mode: 0o600 });

const db = await PGlite.create({ dataDir, extensions: { vector }, relaxedDurability: false });
const execute = db.execProtocolRawStream.bind(db);
db.execProtocolRawStream = async (message, options) => {
  try {
    return await execute(message, options);
  } catch (error) {
    // The socket server would wait for ever behind the failed message; a fresh process recovers by its log.
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
