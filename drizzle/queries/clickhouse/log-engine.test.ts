import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ClickHouseClient } from '@clickhouse/client';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../client';
import { forgetComparisons, noteComparedDay, noteComplete, readEngineState, sumRows } from '../logs/log-days';
import { insertLogRecords } from '../logs/log-insert';
import { addSinks, advanceSink, noteSinkFailure, settleSinks } from '../logs/log-sinks';
import { searchLogs } from '../logs/search-logs';
import { tallyLogs } from '../logs/tally-logs';
import { loadBuckets, loadOverview } from '../stats/read/load-stats';
import { SUM_COLUMNS } from '../stats/read/questions';
import type { Ask } from '../stats/read/time-limit';
import { askOfClient, EngineAwayError, renderForClickHouse } from './ask-clickhouse';
import { createLogEngine, findLogProblem } from './create-log-engine';
import { withLabelColumns } from './label-columns';
import { attachLogEngine, engineOf } from './log-engine';

const STORE = 'clickhouse://test:8123/llm0';

test('values are written out for ClickHouse', () => {
  const text = renderForClickHouse(sql`select ${`it's \\ a\0`}, ${1.5}, ${true} where ${'$1'}`);
  expect(text).toBe(String.raw`select 'it\'s \\ a\0', 1.5, true where '$1'`);
  expect(() => renderForClickHouse(sql`select ${null}`)).toThrow(TypeError);
});

test('hot labels are read from their columns, unless a text looks like one', () => {
  const text = renderForClickHouse(sql`select labels[${'team'}], labels[${'env'}], ${"labels['team']"}`);
  const shown = "select `label.team`, labels['env'], 'labels[\\'team\\']'";
  expect(withLabelColumns(text, ['team'])).toBe(shown);
});

test('errors tell a server that does not answer from a wrong question', async () => {
  const failing = (error: object) =>
    askOfClient(async () => {
      throw Object.assign(new Error('no'), error);
    })(sql`select 1`);
  await expect(failing({ code: 'ECONNREFUSED' })).rejects.toBeInstanceOf(EngineAwayError);
  await expect(failing({})).rejects.toBeInstanceOf(EngineAwayError);
  await expect(failing({ code: '159' })).rejects.toBeInstanceOf(EngineAwayError);
  const wrong = await failing({ code: '62' }).catch((error: unknown) => error);
  expect(wrong).not.toBeInstanceOf(EngineAwayError);
});

test('a server that hangs is left after a time, and its question ends', async () => {
  const gone = Promise.withResolvers<void>();
  const query = ({ abort_signal: signal }: { readonly abort_signal: AbortSignal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        gone.resolve();
        reject(new Error('aborted'));
      });
    });
  const hanging = async () => ({ query }) as unknown as ClickHouseClient;
  await expect(askOfClient(hanging, [], 20)(sql`select 1`)).rejects.toBeInstanceOf(EngineAwayError);
  await gone.promise;
  const connecting = () => new Promise<ClickHouseClient>(() => {});
  await expect(askOfClient(connecting, [], 20)(sql`select 1`)).rejects.toBeInstanceOf(EngineAwayError);
});

describe.each(TEST_DATABASES)('$name', (kind) => {
  let database: Database;
  const nowMs = Date.now();
  const projectId = crypto.randomUUID();
  const away = async (): Promise<ClickHouseClient> => {
    throw new Error('connect ECONNREFUSED');
  };
  /** A new one looks at the state at once. */
  const splitMs = () => createLogEngine({ db: database.db, store: STORE, open: away }).splitMs(nowMs);

  beforeAll(async () => {
    database = await kind.openOwn();
    const made = Array.from({ length: 40 }, (_, nth) =>
      sampleRecord({ projectId, createdAtMs: nowMs - nth * 1_000_000, labels: { team: `t${nth % 3}` } }),
    );
    await insertLogRecords(database.db, made);
  }, 120_000);
  afterAll(() => database?.close());

  test('it answers once all was compared, and while it takes rows', async () => {
    const { db } = database;
    await addSinks(db, [STORE]);
    expect(await splitMs()).toBe(0);
    await noteComplete(db, STORE, nowMs);
    expect(await splitMs()).toBe(nowMs - 60_000);
    await noteSinkFailure(db, STORE, { atMs: nowMs, problem: 'no space left' });
    expect(await splitMs()).toBe(0);
    await advanceSink(db, STORE, 1);
    expect(await splitMs()).toBe(nowMs - 60_000);
    await insertLogRecords(db, [sampleRecord({ createdAtMs: nowMs })]);
    await db.execute(sql`update log_batches set created_at = now() - interval '1 minute'`);
    expect(await splitMs()).toBe(0);
  });

  test('what was compared is forgotten with the sink, and when all is compared again', async () => {
    const { db } = database;
    const day = { fromMs: nowMs - 86_400_000, toMs: nowMs };
    const compare = async () => {
      await noteComplete(db, STORE, nowMs);
      await noteComparedDay(db, STORE, { day: '2026-11-01', sums: await sumRows(db, day, { withBodies: true }) });
    };
    await addSinks(db, [STORE]);
    await compare();
    const known = await readEngineState(db, STORE);
    expect(known).toMatchObject({ completeAtMs: nowMs, days: 1, rows: 39 });
    // It is there already.
    await addSinks(db, [STORE]);
    expect(await readEngineState(db, STORE)).toEqual(known);
    await settleSinks(db, ['other']);
    await settleSinks(db, [STORE]);
    expect(await readEngineState(db, STORE)).toMatchObject({ completeAtMs: null, days: 0 });
    await compare();
    await forgetComparisons(db, STORE);
    expect(await readEngineState(db, STORE)).toMatchObject({ completeAtMs: null, days: 0 });
  });

  test('while ClickHouse is away, Postgres answers everything', async () => {
    const { db } = database;
    const buckets = {
      fromMs: nowMs - 86_400_000,
      toMs: nowMs + 1,
      nowMs,
      groupBy: 'label.team',
      withDurations: true,
    } as const;
    const questions = async () => [
      await searchLogs(db, { projectId }, { limit: 7 }, nowMs),
      await searchLogs(db, { projectId }, { limit: 7, sort: '-cost_usd' }, nowMs),
      await tallyLogs(db, { filter: { projectId }, intervalMs: 3_600_000, nowMs }),
      await loadOverview(db, { fromMs: nowMs - 90 * 60_000 - 7, toMs: nowMs + 1, nowMs }),
      await loadBuckets(db, buckets),
    ];
    const expected = await questions();
    let asked = 0;
    const open = async () => {
      asked += 1;
      return away();
    };
    const engine = createLogEngine({ db, store: STORE, open });
    attachLogEngine(db, { ...engine, splitMs: async () => nowMs - 60_000 });
    expect(await questions()).toEqual(expected);
    expect(asked).toBe(5);
    expect(engineOf(db)?.store).toBe(STORE);
    expect(await findLogProblem(db)).toBeUndefined();
    await addSinks(db, [STORE]);
    await noteSinkFailure(db, STORE, { atMs: nowMs, problem: 'no space left' });
    expect(await findLogProblem(db)).toBe('no space left');
  });

  test('newer rows of Postgres and older ones of ClickHouse make one answer', async () => {
    const { db } = database;
    const splitMs = nowMs - 10_500_000;
    const asked: string[] = [];
    let answer: readonly object[] = [];
    const ask: Ask = async <T extends Record<string, unknown>>(query: SQL) => {
      asked.push(renderForClickHouse(query));
      return answer as readonly T[];
    };
    attachLogEngine(db, { store: STORE, ask, splitMs: async () => splitMs });
    const none = Object.fromEntries(SUM_COLUMNS.map((name) => [name, '0']));
    answer = [{ ...none, start_ms: '0', grp: 't0', requests: '5', success: '5', cost_usd: '1.5' }];
    const range = { fromMs: nowMs - 86_400_000, toMs: nowMs + 1, nowMs, projectId };
    const { buckets } = await loadBuckets(db, { ...range, groupBy: 'label.team', withDurations: false });
    // Eleven of its rows are newer than the split.
    expect(buckets.map(({ group, requests, costNanoUsd }) => [group, requests, costNanoUsd])).toEqual([
      ['t0', 4 + 5, 4 * 12_345 + 1_500_000_000],
      ['t1', 4, 4 * 12_345],
      ['t2', 3, 3 * 12_345],
    ]);
    expect(asked[0]).toContain("labels['team'] as grp");
    expect(asked[0]).toContain(`created_at < fromUnixTimestamp64Milli(${splitMs})`);
    answer = [];
    const page = await searchLogs(db, { projectId }, { limit: 20 }, nowMs);
    expect(page.data.length).toBe(11);
    expect(page.nextCursor).toBeNull();
    expect(asked.at(-1)).toContain('limit 10');
    const tally = await tallyLogs(db, { filter: { projectId }, intervalMs: 3_600_000, nowMs });
    expect(tally.rows).toBe(11);
  });
});
