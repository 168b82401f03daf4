import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createDatabase, type TestDatabase } from '@llm0/testing/stores/create-database';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { connectDatabase, type Database } from './client';
import { migrateDatabase } from './migrate';

const quiet = { onWarning: () => {} };

describe.each(TEST_DATABASES)('migrations on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.open();
  }, 60_000);
  afterAll(() => database.close());

  test('a second time changes nothing', async () => {
    expect(await migrateDatabase(database.client, quiet)).toEqual([]);
  });

  test('steps for the same missing thing warn once', async () => {
    const warnings: string[] = [];
    const missing = ['one thing is missing', 'one thing is missing', 'another thing is missing'];
    const migrations = missing.map((optional) => ({
      name: `9003_${crypto.randomUUID()}`,
      sql: 'select no_such_function()',
      optional,
    }));
    const onWarning = (message: string) => warnings.push(message.replace(/ \(.*/, ''));
    expect(await migrateDatabase(database.client, { migrations, onWarning })).toEqual([]);
    expect(warnings).toEqual(['one thing is missing', 'another thing is missing']);
  });

  test('an optional step that fails is a warning, and tried again', async () => {
    const name = `9001_${crypto.randomUUID().replace(/[^a-z]/g, '')}`;
    const step = (sql: string) => [{ name, sql, optional: 'without it one thing is missing' }];
    const warnings: string[] = [];
    const options = { onWarning: (text: string) => warnings.push(text) };
    const broken = step('create table half_made (id int); select no_such_function()');
    expect(await migrateDatabase(database.client, { ...options, migrations: broken })).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('without it one thing is missing')]);
    const [half] = await database.client.unsafe(`select to_regclass('half_made') as found`);
    expect(half?.found).toBeNull();
    expect(await migrateDatabase(database.client, { ...options, migrations: step('select 1') })).toEqual([name]);
    expect(await migrateDatabase(database.client, { ...options, migrations: step('select 1') })).toEqual([]);
  });

  test('any other step that fails stops the start', async () => {
    const migrations = [{ name: '9002_broken', sql: 'select no_such_function()', optional: null }];
    await expect(migrateDatabase(database.client, { ...quiet, migrations })).rejects.toThrow(
      'migration 9002_broken failed',
    );
  });
});

const serverUrl = process.env.TEST_DATABASE_URL;
if (serverUrl !== undefined && serverUrl !== '') {
  describe('migrations of a real database', () => {
    let own: TestDatabase;
    beforeAll(async () => {
      own = await createDatabase(serverUrl);
    });
    afterAll(() => own.drop());

    test('another program’s tables are left alone', async () => {
      const database = connectDatabase({ url: own.url });
      await database.client.unsafe('create table projects (id int)');
      await expect(migrateDatabase(database.client, quiet)).rejects.toThrow('another program');
      await database.client.unsafe('drop table projects');
      await database.close();
    });

    test('gateways that start at once apply each step once', async () => {
      const gateways = [1, 2, 3, 4].map(() => connectDatabase({ url: own.url }));
      const applied = await Promise.all(gateways.map(({ client }) => migrateDatabase(client, quiet)));
      const names = applied.flat();
      expect(names.length).toBeGreaterThan(5);
      expect(new Set(names).size).toBe(names.length);
      await Promise.all(gateways.map((database) => database.close()));
    });
  });
}
