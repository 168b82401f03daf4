// A cell is what the requests of its model and customer cost, to the nano-dollar; the table adds up to the spend.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { runs } from '@llm0/testing/lane';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import type { Database } from '../../../client';
import { insertLogRecords } from '../../logs/log-insert';
import { OTHER_GROUPS } from './questions';
import { loadSpendTable, type TableSide } from './spend-table';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const nowMs = Date.parse('2030-07-20T15:30:17.123Z');
const projectId = crypto.randomUUID();

/** Every ninth is of a mistyped model: it fails and costs nothing. */
const records = Array.from({ length: 300 }, (_, index): LogRecord => {
  const isMistyped = index % 9 === 0;
  return sampleRecord({
    projectId,
    apiKeyId: `00000000-0000-4000-8000-00000000000${index % 3}`,
    createdAtMs: nowMs - 1 - index * 2_711_113,
    model: isMistyped ? `gpt-4oo-${index}` : `model-${index % 5}`,
    status: isMistyped ? 'error' : 'success',
    finalProvider: index % 2 === 0 ? 'alpha' : 'beta',
    modality: index % 7 === 0 ? 'image' : undefined,
    customerId: index % 4 === 0 ? undefined : `customer-${index % 7}`,
    costNanoUsd: isMistyped ? 0 : 1_000_000_007 + index * index * 13,
  });
});

const NAME_OF: Readonly<Record<TableSide, (record: LogRecord) => string>> = {
  project: (record) => record.projectId,
  key: (record) => record.apiKeyId,
  model: (record) => record.model,
  provider: (record) => record.finalProvider ?? '',
  customer: (record) => record.customerId ?? '',
  modality: (record) => record.modality ?? 'text',
};
const SIDES = Object.keys(NAME_OF) as TableSide[];

function costs(chosen: readonly LogRecord[], nameOf: (record: LogRecord) => string) {
  const sums = new Map<string, number>();
  for (const record of chosen) {
    const name = nameOf(record);
    sums.set(name, (sums.get(name) ?? 0) + record.costNanoUsd);
  }
  return sums;
}

/** Names with a place of their own. */
const dearest = (chosen: readonly LogRecord[], side: TableSide, top: number) =>
  new Set(
    [...costs(chosen, NAME_OF[side])]
      .filter(([, cost]) => cost > 0)
      .sort(([, a], [, b]) => b - a)
      .slice(0, top)
      .map(([name]) => name),
  );

describe.each(TEST_DATABASES)('spend tables on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.open();
    await insertLogRecords(database.db, records);
  }, 60_000);
  afterAll(() => database.close());

  test('a pair counts its free requests on days without others, too', async () => {
    const own = crypto.randomUUID();
    const at = (days: number, costNanoUsd: number) =>
      sampleRecord({ projectId: own, createdAtMs: nowMs - days * DAY_MS - 1, customerId: 'ann', costNanoUsd });
    await insertLogRecords(database.db, [at(0, 5), at(1, 0), at(3, 0), at(5, 7)]);
    const asked = { fromMs: nowMs - 6 * DAY_MS, toMs: nowMs, nowMs, projectId: own, top: 5 };
    for (const columns of ['customer', 'project'] as const) {
      const { cells } = await loadSpendTable(database.db, { ...asked, rows: 'model', columns });
      const column = columns === 'customer' ? 'ann' : own;
      expect(cells).toEqual([{ row: 'model-a', column, requests: 4, costNanoUsd: 12 }]);
    }
  });

  test('any two sides, range and number of names: cells are what their requests cost', async () => {
    const asked = fc.record({
      rows: fc.constantFrom(...SIDES),
      columns: fc.constantFrom(...SIDES),
      top: fc.integer({ min: 1, max: 9 }),
      lengthMs: fc.integer({ min: HOUR_MS, max: 10 * DAY_MS }),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ rows, columns, top, lengthMs }) => {
        const isOfRows = [rows, columns].some((side) => side === 'customer' || side === 'modality');
        const fromMs = nowMs - lengthMs;
        const { cells, partialFromMs } = await loadSpendTable(database.db, {
          ...{ rows, columns, top, fromMs, toMs: nowMs, nowMs, projectId },
        });
        const readMs = isOfRows ? Math.max(fromMs, nowMs - 92 * DAY_MS) : fromMs;
        expect(partialFromMs).toBe(readMs > fromMs ? readMs : undefined);
        const chosen = records.filter(({ createdAtMs }) => createdAtMs >= readMs);
        const placeOf = (side: TableSide) => {
          const names = dearest(chosen, side, top);
          return (record: LogRecord) => (names.has(NAME_OF[side](record)) ? NAME_OF[side](record) : OTHER_GROUPS);
        };
        const [rowOf, columnOf] = [placeOf(rows), placeOf(columns)];
        const expected = [...costs(chosen, (one) => JSON.stringify([rowOf(one), columnOf(one)]))];
        expect(
          new Map(cells.map(({ row, column, costNanoUsd }) => [JSON.stringify([row, column]), costNanoUsd])),
        ).toEqual(new Map(expected.filter(([, cost]) => cost > 0)));
      }),
      { numRuns: runs(50) },
    );
  }, 60_000);

  test('without requests there are no cells', async () => {
    const none = { fromMs: nowMs + DAY_MS, toMs: nowMs + 2 * DAY_MS, nowMs, projectId, top: 5 };
    for (const columns of ['customer', 'project'] as const) {
      expect(await loadSpendTable(database.db, { ...none, rows: 'model', columns })).toEqual({ cells: [] });
    }
  });
});
