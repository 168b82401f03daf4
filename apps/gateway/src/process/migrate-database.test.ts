import { afterAll, expect, test } from 'bun:test';
import { createDatabase, type TestDatabase } from '@llm0/testing/stores/create-database';
import { removeFolder, temporaryFolder } from '@llm0/testing/stores/server-process';
import { readConfig } from '../config/config';
import { migrateStores } from './migrate-database';

const SERVER = process.env.TEST_DATABASE_URL ?? '';
const folder = temporaryFolder('migrate');
let database: TestDatabase | undefined;
afterAll(async () => {
  await database?.drop();
  removeFolder(folder);
});

const configOf = (env: Record<string, string>) => readConfig({ DATA_DIR: folder, ...env });

test('an empty database is brought up to date once, however many do it', async () => {
  database = await createDatabase(SERVER);
  const config = configOf({ DATABASE_URL: database.url });
  const runs = await Promise.all([1, 2, 3].map(() => migrateStores(config, () => {})));
  const applied = runs.flat();
  expect(applied.length).toBeGreaterThan(30);
  expect(new Set(applied).size).toBe(applied.length);
  expect(await migrateStores(config, () => {})).toEqual([]);
});

test('a database that is not there or refuses is named, without its password', async () => {
  const gone = new URL(SERVER);
  gone.pathname = '/no_such_database';
  gone.password = 'a-password-of-nobody';
  const refusal = await migrateStores(configOf({ DATABASE_URL: gone.href }), () => {}).catch(String);
  expect(refusal).toContain('DATABASE_URL=');
  expect(refusal).not.toContain('a-password-of-nobody');
});
