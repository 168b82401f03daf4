import { openClickHouse } from '@llm0/drizzle/clickhouse/open-clickhouse';
import { findLastBatch, storeLines } from '@llm0/drizzle/queries/clickhouse/store-lines';
import type { ClickHouseSetting } from '../config/sinks';
import type { BatchedPart } from './part';

type Client = Awaited<ReturnType<typeof openClickHouse>>;
type Open = (sink: ClickHouseSetting) => Promise<Client>;

const openServer: Open = ({ url, username, password, database }) =>
  openClickHouse({ url, username, password, database });

/**
 * Copies rows to ClickHouse, each once. The row's batch tells how far an interrupted copy got: those batches go again
 * under the same token, which ClickHouse ignores where it has them.
 */
export function createWriteClickHouse(
  open: Open = openServer,
): (sink: ClickHouseSetting, part: BatchedPart) => Promise<void> {
  const clients = new Map<string, Client>();
  return async (sink, { texts, batches }) => {
    const client = clients.get(sink.name) ?? (await open(sink));
    clients.set(sink.name, client);
    try {
      const { seq: afterSeq } = batches;
      batches.lastSeq = await findLastBatch(client, afterSeq);
      const lines: string[] = [];
      for await (const text of texts) for (const line of text.trimEnd().split('\n')) lines.push(line);
      await storeLines(client, { afterSeq, seq: batches.seq, lines, calls: batches.calls });
    } catch (error) {
      clients.delete(sink.name);
      await client.close().catch(() => {});
      throw error;
    }
  };
}
