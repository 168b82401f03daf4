import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TEST_DATABASES, type TestDatabase } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { ARRIVING, createFileWithin, deleteFile, findFile, listFiles } from './files';

const MOST = 1000;

describe.each(TEST_DATABASES)('files on $name', (kind) => {
  let database: TestDatabase;
  let projectId: string;
  beforeAll(async () => {
    database = await kind.open();
    const name = `files ${crypto.randomUUID()}`;
    const [row] = await database.db.execute<{ id: string }>(
      sql`insert into projects (name) values (${name}) returning id`,
    );
    projectId = row?.id ?? '';
  });
  afterAll(() => database.close());

  test('of parallel uploads stay within the bound of their project, and give their place back', async () => {
    const { db } = database;
    const nowMs = Date.now();
    const file = (bytes: number, purpose: string = ARRIVING) => ({
      ...{ id: Bun.randomUUIDv7(), projectId, apiKeyId: crypto.randomUUID(), name: 'a', bytes, purpose },
      ...{ createdAtMs: nowMs, expiresAtMs: nowMs + 60_000 },
    });
    const placed = await Promise.all(Array.from({ length: 8 }, () => createFileWithin(db, file(300), MOST)));
    const [first, second, third, ...more] = placed.flatMap((one) => one ?? []);
    expect(more).toEqual([]);
    if (first === undefined || second === undefined || third === undefined) throw new Error('too few were placed');
    expect(await findFile(db, first, nowMs)).toBeNull();
    expect(await createFileWithin(db, { ...first, bytes: 401 }, MOST)).toBeNull();
    expect(await createFileWithin(db, { ...first, bytes: 400, purpose: 'batch' }, MOST)).not.toBeNull();
    expect(await findFile(db, first, nowMs)).toMatchObject({ bytes: 400, purpose: 'batch' });
    const { data } = await listFiles(db, { projectId, limit: 10, order: 'asc', purpose: ARRIVING }, nowMs);
    expect(data).toEqual([]);
    expect(await deleteFile(db, second)).toBe(true);
    expect(await createFileWithin(db, file(300), MOST)).not.toBeNull();
  });
});
