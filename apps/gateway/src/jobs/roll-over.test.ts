import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Database } from '@llm0/drizzle/client';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { JobContext } from './job';
import { rollOver } from './roll-over';

describe.each(TEST_DATABASES)('roll-over on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.openOwn();
  }, 60_000);
  afterAll(() => database.close(), 60_000);

  test('days close once, a month with what was spent, and a difference is an error', async () => {
    const record = sampleRecord({ createdAtMs: Date.parse('2043-01-31T23:59:59Z'), costNanoUsd: 5_000_000_001 });
    await insertLogRecords(database.db, [record]);
    let nowMs = Date.parse('2043-01-30T12:00:00Z');
    let spentNanoUsd = 5_000_000_001;
    const hotStore = {
      counters: async () => [{ projectId: record.projectId, month: '2043-01', spentNanoUsd, heldNanoUsd: 0 }],
    };
    const context = { db: database.db, hotStore, nowMs: () => nowMs } as unknown as JobContext;
    expect(await rollOver.run(context)).toEqual({ message: 'first day 2043-01-30' });
    expect(await rollOver.run(context)).toBeNull();
    nowMs = Date.parse('2043-01-31T00:01:00Z');
    expect(await rollOver.run(context)).toBeNull();
    nowMs = Date.parse('2043-01-31T00:03:00Z');
    expect(await rollOver.run(context)).toEqual({ message: 'day 2043-01-30 closed' });
    nowMs = Date.parse('2043-02-01T00:03:00Z');
    expect(await rollOver.run(context)).toEqual({
      ok: true,
      message: 'month 2043-01 closed, every counter is the sum of its rows',
      metadata: {
        month: '2043-01',
        projects: [{ project_id: record.projectId, spent_usd: '5.000000001', counter_usd: '5.000000001' }],
      },
    });
    expect(await rollOver.run(context)).toBeNull();
    spentNanoUsd += 1;
    nowMs = Date.parse('2043-03-01T00:03:00Z');
    await rollOver.run(context);
    const { putSetting } = await import('@llm0/drizzle/queries/settings');
    await putSetting(database.db, 'rolled_over_to', '2043-01-31');
    expect(await rollOver.run(context)).toMatchObject({ ok: false });
  });
});
