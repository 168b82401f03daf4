import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import type { Database } from '../../../client';
import { sqlState } from '../../../sql-state';
import { askInTime, CANCELED } from './time-limit';

describe.each(TEST_DATABASES)('questions in time on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.open();
  }, 60_000);
  afterAll(() => database.close());

  test('a question is over after 3 s, however many statements it takes', async () => {
    const startMs = performance.now();
    const slow = askInTime(database.db, async (ask) => {
      for (let i = 0; i < 10; i++) {
        if (kind.name === 'embedded') await Bun.sleep(700);
        else await ask(sql`select pg_sleep(0.7)`);
        await ask(sql`select 1`);
      }
    });
    expect(sqlState(await slow.then(() => undefined).catch((error: unknown) => error))).toBe(CANCELED);
    expect(performance.now() - startMs).toBeLessThan(4000);
  });

  test('a single statement too, if Postgres supports time-outs', async () => {
    if (kind.name === 'embedded') return;
    const startMs = performance.now();
    const slow = askInTime(database.db, (ask) => ask(sql`select pg_sleep(20)`));
    expect(sqlState(await slow.then(() => undefined).catch((error: unknown) => error))).toBe(CANCELED);
    expect(performance.now() - startMs).toBeLessThan(4500);
  });

  test('the next request on a connection has its own time', async () => {
    const [row] = await askInTime(database.db, (ask) => ask<{ n: number }>(sql`select 7 as n`));
    expect(row?.n).toBe(7);
    const [setting] = await database.db.execute<{ statement_timeout: string }>(sql`show statement_timeout`);
    expect(setting?.statement_timeout).toBe('0');
  });
});
