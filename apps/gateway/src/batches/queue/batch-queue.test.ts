import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TEST_DATABASES, type TestDatabase } from '@llm0/testing/stores/test-databases';
import { executeSql } from './batch-queue';

describe.each(TEST_DATABASES)("pg-boss's statements on $name", (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await kind.open();
  });
  afterAll(() => database.close());

  test('give lists as lists: by them it counts the jobs whose heart beats', async () => {
    const id = crypto.randomUUID();
    const text = "select array_agg(x) as ids, '{}'::uuid[] as none, $2::int as number from unnest($1::uuid[]) x";
    const { rows } = await executeSql(database.client, text, [[id, id], 3]);
    expect(rows).toEqual([{ ids: [id, id], none: [], number: 3 }]);
  });
});
