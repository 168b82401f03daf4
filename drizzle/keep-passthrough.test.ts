import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { createDatabase } from '@llm0/testing/stores/create-database';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { temporaryFolder } from '@llm0/testing/stores/server-process';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { connectDatabase, type Database } from './client';
import { startEmbeddedPostgres } from './embedded/start-embedded-postgres';
import { migrateDatabase, readShippedMigrations } from './migrate';
import { insertLogRecords } from './queries/logs/log-insert';

const PASSTHROUGH = '0034_passthrough';

describe.each(TEST_DATABASES.map(({ name }) => name))(
  'a database from before pass-through was switched, on %s',
  (name) => {
    let database: Database;
    let close: () => Promise<void>;
    beforeAll(async () => {
      if (name === 'embedded') {
        const dataDir = temporaryFolder('keep-passthrough');
        const embedded = await startEmbeddedPostgres({ dataDir, onWarning: console.warn });
        database = connectDatabase({ socketPath: embedded.socketPath });
        close = async () => {
          await database.close();
          await embedded.stop();
          rmSync(dataDir, { recursive: true, force: true });
        };
      } else {
        const own = await createDatabase(process.env.TEST_DATABASE_URL ?? '');
        database = connectDatabase({ url: own.url });
        close = () => database.close().then(() => own.drop());
      }
      const migrations = (await readShippedMigrations()).filter(({ name: one }) => one !== PASSTHROUGH);
      await migrateDatabase(database.client, { migrations, onWarning: () => {} });
    }, 120_000);
    afterAll(() => close());

    test('projects that used it keep the providers that answered; the others have none', async () => {
      const projects = await database.client.unsafe<{ id: string }[]>(
        `insert into projects (name) values ('used'), ('refused'), ('never') returning id`,
      );
      const [used, refused, never] = projects.map(({ id }) => id);
      const row = (projectId: string | undefined, provider: string, more: object = {}) =>
        sampleRecord({ projectId: projectId ?? '', dialect: 'passthrough', provider, status: 'success', ...more });
      await insertLogRecords(database.db, [
        ...[row(used, 'openai'), row(used, 'groq'), row(used, 'openai'), row(used, 'xai', { status: 'error' })],
        row(refused, 'openai', { status: 'error', httpStatus: 404 }),
        row(never, 'openai', { dialect: 'openai' }),
      ]);
      await migrateDatabase(database.client, { onWarning: console.warn });
      const kept = await database.client.unsafe('select name, passthrough from projects order by name');
      expect([...kept]).toEqual([
        { name: 'never', passthrough: null },
        { name: 'refused', passthrough: null },
        { name: 'used', passthrough: ['groq', 'openai'] },
      ] as never);
    });
  },
);
