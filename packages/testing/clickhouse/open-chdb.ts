import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { startChdb } from './start-chdb';

/** The client of a ClickHouse that ends with it; empty unless a folder is kept. */
export async function openChdb(kept?: string): Promise<ClickHouseClient> {
  const server = await startChdb(kept);
  const client = createClient({ url: server.url.replace('clickhouse:', 'http:') });
  const close = client.close.bind(client);
  client.close = async () => {
    await close();
    await server.stop();
  };
  return client;
}
