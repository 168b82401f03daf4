// Serves several embedded databases in one process: their WebAssembly is compiled once.
import { servePostgres } from '@llm0/drizzle/embedded/serve-postgres';
import { takeOrders } from './order-process';

const program = Bun.resolveSync('@electric-sql/pglite', import.meta.resolve('@llm0/drizzle/embedded/serve-postgres'));
const compiled = await WebAssembly.compile(await Bun.file(new URL('pglite.wasm', `file://${program}`)).arrayBuffer());

takeOrders<{ readonly dataDir: string }>(async ({ dataDir }) => {
  const address = `${dataDir}.sock`;
  return { address, stop: await servePostgres({ dataDir, socketPath: address, compiled }) };
});
