import { rmSync } from 'node:fs';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

export interface ServePostgresOptions {
  /** Of the database itself. */
  readonly dataDir: string;
  readonly socketPath: string;
  /** PGlite, compiled already. */
  readonly compiled?: PGliteOptions['pgliteWasmModule'];
}

/** Opens PGlite and serves it on a Unix socket. It blocks this thread. The result closes it. */
export async function servePostgres({
  dataDir,
  socketPath,
  compiled,
}: ServePostgresOptions): Promise<() => Promise<void>> {
  const db = await PGlite.create({
    dataDir,
    extensions: { vector },
    relaxedDurability: false,
    ...(compiled && { pgliteWasmModule: compiled }),
  });
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
  return async () => {
    await server.stop();
    await db.close();
  };
}
