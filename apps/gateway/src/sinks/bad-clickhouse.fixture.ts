// A ClickHouse at the other end of a bad line, beside a Postgres.
import type { ClickHouseClient } from '@clickhouse/client';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { migrateClickHouse } from '@llm0/drizzle/clickhouse/open-clickhouse';
import type { Database, Db } from '@llm0/drizzle/client';
import { createLogEngine } from '@llm0/drizzle/queries/clickhouse/create-log-engine';
import { attachLogEngine } from '@llm0/drizzle/queries/clickhouse/log-engine';
import { settleSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { openChdb } from '@llm0/testing/clickhouse/open-chdb';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import type { ClickHouseSetting, LogDatabaseSetting } from '../config/sinks';
import type { JobContext } from '../jobs/job';
import { exportRows } from './export-rows';
import { moveDays } from './move-days';
import { createWriteClickHouse } from './write-clickhouse';

export const SETTING: LogDatabaseSetting = {
  ...{ kind: 'clickhouse', name: 'clickhouse://test:8123/llm0', url: 'http://127.0.0.1:1', everyMs: 0 },
  ...{ username: 'default', password: '', database: 'llm0', withBodies: true },
  ...{ logRetentionDays: 3650, logBodiesTtlDays: 3650, hotLabels: [] },
};

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

export type Fate = 'before' | 'after' | undefined;

export class BadClickHouse {
  isAway = false;
  isFull = false;
  /** What befalls the next insertions. */
  fates: Fate[] = [];

  private constructor(
    readonly database: Database,
    readonly chdb: ClickHouseClient,
  ) {}

  static async start(): Promise<BadClickHouse> {
    const [kind] = TEST_DATABASES;
    if (kind === undefined) throw new Error('no database');
    const world = new BadClickHouse(await kind.openOwn(), await openChdb());
    await migrateClickHouse(world.chdb);
    return world;
  }

  async close(): Promise<void> {
    await this.chdb.close();
    await this.database.close();
  }

  readonly client = new Proxy({} as ClickHouseClient, {
    get: (_, name: keyof ClickHouseClient) => {
      if (name === 'close') return async () => {};
      if (name !== 'command' && name !== 'query') return undefined;
      return (given: Parameters<ClickHouseClient['command']>[0]) => this.answer(name, given);
    },
  });

  private async answer(name: 'command' | 'query', given: Parameters<ClickHouseClient['command']>[0]) {
    if (this.isAway) throw refused();
    const isInsert = 'query' in given && given.query.startsWith('insert');
    if (this.isFull && isInsert)
      throw Object.assign(new Error('Cannot reserve 1.00 MiB: not enough space'), { code: '243' });
    const broken = isInsert ? this.fates.shift() : undefined;
    if (broken === 'before') throw refused();
    const answer = await (this.chdb[name] as (one: typeof given) => Promise<unknown>)(given);
    if (broken === 'after') throw new Error('the answer is lost');
    return answer;
  }

  readonly open = async () => {
    if (this.isAway) throw refused();
    return this.client;
  };

  heal(): void {
    [this.isAway, this.isFull, this.fates] = [false, false, []];
  }

  attach(): void {
    const { db } = this.database;
    attachLogEngine(db, createLogEngine({ db, store: SETTING.name, open: this.open }));
  }

  context(nowMs: number): JobContext {
    const log = pino({ level: 'silent' });
    return { db: this.database.db, nowMs: () => nowMs, log } as unknown as JobContext;
  }

  writers() {
    return createWriteClickHouse(this.open);
  }

  copy(write = this.writers()) {
    const job = exportRows(SETTING, [SETTING.name], (sink, part) => write(sink as ClickHouseSetting, part));
    return job.run(this.context(laterMs()));
  }

  move() {
    return moveDays(SETTING, this.open).run(this.context(laterMs()));
  }

  async ask<T>(query: string): Promise<readonly T[]> {
    return (await this.chdb.query({ query, format: 'JSONEachRow' })).json<T>();
  }

  /** Everything from the start, on both sides. */
  async clear(): Promise<void> {
    await clearBooks(this.database.db, (query) => this.chdb.command({ query }));
    await settleSinks(this.database.db, []);
    this.heal();
  }
}

const ROWS = ['gateway_logs', 'gateway_log_bodies', 'tool_calls'];
const SUMS = ['rollup_minute', 'rollup_hour', 'rollup_day'];
const BATCHES = ['log_batches', 'log_lines', 'log_days', 'call_days'];

/** Removes rows and sums on both sides. */
export async function clearBooks(db: Db, command: (query: string) => Promise<unknown>): Promise<void> {
  for (const table of [...ROWS, ...SUMS, ...BATCHES]) await db.execute(sql.raw(`delete from ${table}`));
  await db.execute(sql.raw(`delete from settings where key in ('log_floor', 'call_floor')`));
  for (const table of ROWS) await command(`truncate table ${table}`);
}

/** After the rows' time, so that all of them are settled. */
export const laterMs = () => Date.now() + 11 * 60_000;

/** Calls of tools at the same times; every fourth is free. */
export const calls = (agoMs: number, count: number, costs: number): readonly ToolCallRecord[] =>
  Array.from({ length: count }, (_, nth) =>
    sampleCall({ createdAtMs: Date.now() - agoMs - nth * 1000, costNanoUsd: nth % 4 === 3 ? 0 : costs + nth }),
  );

export const rows = (agoMs: number, count: number, costs: number): readonly LogRecord[] =>
  Array.from({ length: count }, (_, nth) =>
    sampleRecord({ createdAtMs: Date.now() - agoMs - nth * 1000, costNanoUsd: costs + nth }),
  );
