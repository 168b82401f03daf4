import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBatch, readBatch } from '@llm0/drizzle/queries/batches/batches';
import { claimLines, endLines, insertLines } from '@llm0/drizzle/queries/batches/lines';
import { TEST_DATABASES, type TestDatabase } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { type FileStore, openFileStore } from '../files/file-store';
import { advanceBatch, type FinishNeeds } from './finish-batch';

const LINES = 120;

describe.each(TEST_DATABASES)('the end of a batch on $name', (kind) => {
  let database: TestDatabase;
  let folder: string;
  let store: FileStore;
  beforeAll(async () => {
    database = await kind.open();
    folder = await mkdtemp(join(tmpdir(), 'llm0-results-'));
    store = openFileStore({ folder });
  });
  afterAll(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  /** A process that looks whether the batch is at its end. */
  const look = (id: string, write: FileStore['write'] = (...given) => store.write(...given)) => {
    const { db } = database;
    const files = { db, store: { write, remove: (file: string) => store.remove(file) } };
    const services = {
      batches: { db },
      files,
      hotStore: { reserve: async () => undefined },
      clock: { nowMs: Date.now },
    };
    return advanceBatch(services as unknown as FinishNeeds, id);
  };

  async function openEnded(): Promise<string> {
    const { db } = database;
    const id = Bun.randomUUIDv7();
    const [row] = await db.execute<{ id: string }>(
      sql`insert into projects (name) values (${`ends ${id}`}) returning id`,
    );
    const owner = { id, projectId: row?.id ?? '', apiKeyId: crypto.randomUUID(), total: LINES };
    const input = { inputFileId: crypto.randomUUID(), dialect: 'openai', endpoint: '/v1/responses' } as const;
    const times = { expiresAtMs: Date.now() + 60_000 };
    await createBatch(db, { ...owner, ...input, ...times, status: 'in_progress', headers: {} });
    const lines = Array.from({ length: LINES }, (_, line) => line);
    const sizes = { at: 0, length: 10, boundNanoUsd: 0 };
    await insertLines(
      db,
      id,
      lines.map((line) => ({ line, customId: `line-${line}`, ...sizes })),
    );
    const claimed = crypto.randomUUID();
    await claimLines(db, { batchId: id, from: 0, to: LINES }, claimed);
    const usage = { httpStatus: 200, costNanoUsd: 0, tokensIn: 0, tokensOut: 0 };
    const results = lines.map((line) => {
      const answer = JSON.stringify({ said: `answer ${line}` });
      return { line, state: 'completed' as const, requestId: crypto.randomUUID(), answer, ...usage };
    });
    await endLines(db, { batchId: id, owner: claimed }, results);
    return id;
  }

  const expectWhole = async (id: string) => {
    const batch = await readBatch(database.db, id);
    const text = await new Response(store.read(batch?.outputFileId ?? '')).text();
    const said = text.trim().split('\n');
    expect(said.map((line) => JSON.parse(line).response.body.said)).toEqual(said.map((_, line) => `answer ${line}`));
    expect([batch?.status, said.length]).toEqual(['completed', LINES]);
    expect(await readdir(folder)).toEqual([batch?.outputFileId ?? '']);
    await rm(join(folder, batch?.outputFileId ?? ''));
  };

  test.each(['before', 'after'])(
    'two processes that write its results leave one whole file: the first ends %s the second',
    async (order) => {
      const id = await openEnded();
      const begun = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      async function* slowly(pieces: AsyncIterable<Uint8Array>) {
        for await (const piece of pieces) {
          yield piece;
          begun.resolve();
          await gate.promise;
        }
      }
      const first = look(id, (file, pieces) => store.write(file, slowly(pieces)));
      await begun.promise;
      const second = look(id, async (file, pieces) => {
        if (order === 'before') {
          gate.resolve();
          await first;
        }
        return store.write(file, pieces);
      });
      await second;
      gate.resolve();
      await first;
      await expectWhole(id);
    },
  );

  test('what a killed process has written is removed by the next one', async () => {
    const id = await openEnded();
    const killed = look(id, async (file, pieces) => {
      await store.write(file, pieces);
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    await look(id);
    await expectWhole(id);
  });
});
