import { join } from 'node:path';
import { installCommandLine } from '../compatibility/command-lines/install-command-line';
import { freePort, removeFolder, temporaryFolder } from '../stores/server-process';

/** ClickHouse in a process of its own, which may be killed and started again on its data. */
export interface ChdbServer {
  /** For `LOG_DATABASE_URL`. */
  readonly url: string;
  ask<T>(query: string): Promise<readonly T[]>;
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** `kept`: a folder that stays; else the data is gone with it. */
export async function startChdb(kept?: string): Promise<ChdbServer> {
  const installed = await installCommandLine('chdb@3.4.0');
  const folder = kept ?? temporaryFolder('chdb-server');
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  let child: Bun.Subprocess | undefined;
  const server: ChdbServer = {
    url: `clickhouse://127.0.0.1:${port}/default`,
    async ask<T>(query: string) {
      const response = await fetch(address, { method: 'POST', body: `${query} format JSONEachRow` });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return text.trim() === ''
        ? []
        : text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as T);
    },
    async start() {
      const script = join(import.meta.dir, 'chdb-worker.ts');
      const command = [process.execPath, '--no-env-file', script, String(port), join(folder, 'data'), installed];
      child = Bun.spawn(command, { stdout: 'ignore', stderr: 'inherit' });
      const endMs = Date.now() + 60_000;
      while (!(await fetch(`${address}/ping`).catch(() => undefined))?.ok) {
        if (child.exitCode !== null || Date.now() > endMs) throw new Error('chdb did not start');
        await Bun.sleep(50);
      }
    },
    async kill() {
      child?.kill('SIGKILL');
      await child?.exited;
    },
    async stop() {
      await server.kill();
      if (kept === undefined) removeFolder(folder);
    },
  };
  await server.start();
  return server;
}
