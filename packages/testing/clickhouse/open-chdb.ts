import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { installCommandLine } from '../compatibility/command-lines/install-command-line';
import { temporaryFolder } from '../stores/server-process';

/**
 * ClickHouse in this process, by the client that servers are asked with; empty unless a folder is kept. One at a time:
 * that is all chdb can do.
 */
export async function openChdb(kept?: string): Promise<ClickHouseClient> {
  const installed = await installCommandLine('chdb@3.4.0');
  const { createChdbConnection } = await import(Bun.resolveSync('chdb/connection', installed));
  const path = kept ?? temporaryFolder('chdb');
  if (kept === undefined) process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  const options: object = { connection: createChdbConnection({ path: join(path, 'data') }) };
  return createClient(options);
}
