import { expect, test } from 'bun:test';
import { flushNamespace, testRedisUrl } from '../store-rows.fixture';
import { openRedis } from './connection';
import { createShardKeys } from './keys';
import { RedisLogQueue } from './log-queue';

test('what 0.2.0 has in hand is read here, and what is left here is read there', async () => {
  const [client, reader] = [openRedis(testRedisUrl()), openRedis(testRedisUrl())];
  const namespace = `llm0-test-${crypto.randomUUID()}`;
  const shards = createShardKeys(namespace, 1);
  const log = shards[0]?.log ?? '';
  const add = (...requests: string[]) =>
    Promise.all(requests.map((request) => client.xadd(log, '*', 'i', request, 'r', `"${request}"`)));
  /** 0.2.0 reads by a consumer group, and deletes what it acknowledges. */
  const readBefore = async (count: number, from: string) => {
    const reply = await client.xreadgroup('GROUP', 'drain', 'old', 'COUNT', count, 'STREAMS', log, from);
    const [[, entries] = ['', []]] = (reply ?? []) as [string, [string, string[]][]][];
    return entries.map(([, fields]) => fields?.[3]);
  };
  try {
    await client.xgroup('CREATE', log, 'drain', '0', 'MKSTREAM');
    await add('a', 'b');
    expect(await readBefore(1, '>')).toEqual(['"a"']);
    const queue = new RedisLogQueue({ client, reader, shards });
    const both = await queue.read(10, 0);
    expect(both.map(({ record }) => record)).toEqual(['"a"', '"b"']);
    await add('c');
    expect((await queue.read(10, 0)).map(({ record }) => record)).toEqual(['"c"']);
    // Nothing behind it: from the start again, as nothing was acknowledged.
    expect(await queue.read(10, 0)).toEqual([]);
    expect(await queue.read(2, 0)).toEqual(both);
    await queue.acknowledge(both.map(({ entryId }) => entryId));
    expect(await client.xlen(log)).toBe(1);
    expect(await readBefore(10, '>')).toEqual(['"c"']);
  } finally {
    await flushNamespace(testRedisUrl(), namespace);
    for (const one of [client, reader]) one.disconnect();
  }
});
