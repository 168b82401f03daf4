import { afterEach, describe, expect, test } from 'bun:test';
import { createDatabase, createMigratedDatabase } from '@llm0/testing/stores/create-database';
import postgres from 'postgres';
import { chooseSchema } from './choose-schema';
import { openDatabase } from './open-database';

const SERVER = process.env.TEST_DATABASE_URL ?? '';
const THEIRS = 'create table projects (id uuid primary key, spend_reset_at timestamptz)';

const drops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const drop of drops.splice(0)) await drop();
});

async function newDatabase(sql = '', create = createDatabase): Promise<string> {
  const database = await create(SERVER);
  drops.push(() => database.drop());
  await run(database.url, sql);
  return database.url;
}

async function run(url: string, sql: string) {
  const client = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await client.unsafe(sql === '' ? 'select 1' : sql).simple();
  } finally {
    await client.end();
  }
}

const open = (databaseUrl: string, onWarning: (text: string) => void = () => {}) =>
  openDatabase({ databaseUrl, dataDir: '', onWarning });

describe('schema of our tables', () => {
  test('an empty database and one with ours: where connections look by themselves', async () => {
    const empty = await newDatabase();
    expect(await chooseSchema(empty)).toEqual({ databaseUrl: empty, isApart: false });
    const ours = await newDatabase('', createMigratedDatabase);
    expect(await chooseSchema(ours)).toEqual({ databaseUrl: ours, isApart: false });
  });

  test("beside the Go project's: a schema of their own, at every start, however many at once", async () => {
    const url = await newDatabase(THEIRS);
    const chosen = await Promise.all([1, 2, 3].map(() => chooseSchema(url)));
    expect(new Set(chosen.map(({ databaseUrl }) => databaseUrl)).size).toBe(1);
    expect(chosen[0]?.isApart).toBe(true);
    const databases = await Promise.all(chosen.map(({ databaseUrl }) => open(databaseUrl)));
    const [found] = await (databases[0]?.client.unsafe(
      `select (select count(*)::int from pg_tables where schemaname = 'public') as theirs,
        'projects'::regclass::text as projects, 'model_pricing'::regclass::text as prices`,
    ) ?? []);
    expect([found?.theirs, found?.projects, found?.prices]).toEqual([1, 'projects', 'model_pricing']);
    for (const database of databases) await database.close();
    expect((await chooseSchema(url)).isApart).toBe(true);
  });

  test('pgvector in whichever schema is used from there, and not moved', async () => {
    const url = await newDatabase(`${THEIRS}; create schema extensions; create extension vector schema extensions`);
    const warnings: string[] = [];
    const database = await open((await chooseSchema(url)).databaseUrl, (text) => warnings.push(text));
    const [near] = await database.client.unsafe(`select '[1,2]'::vector <=> '[1,2]'::vector as distance,
      (select count(*)::int from semantic_cache) as entries`);
    expect([near?.distance, near?.entries]).toEqual([0, 0]);
    expect(warnings).toEqual([]);
    const [extension] = await database.client.unsafe(
      `select nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'vector'`,
    );
    expect(extension?.nspname).toBe('extensions');
    await database.close();
  });

  test("another program's tables are refused as before", async () => {
    const url = await newDatabase('create table projects (id uuid primary key)');
    const { databaseUrl } = await chooseSchema(url);
    await expect(open(databaseUrl)).rejects.toThrow('tables of another program');
  });
});
