import { RecordsWaitError } from '@llm0/core/logs/log-drain';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { sql } from 'drizzle-orm';
import type { BadClickHouse } from './bad-clickhouse.fixture';

/** A request or a tool call. */
export type QueuedRecord = LogRecord | ToolCallRecord;

/** The queue and what it stored: records of which only ClickHouse knows wait. */
export class RecordQueue {
  private waiting: (readonly QueuedRecord[])[] = [];
  /** By id. */
  readonly stored = new Map<string, QueuedRecord>();
  /** Batches that could not be stored, or not whole. */
  failures = 0;

  constructor(private readonly world: Pick<BadClickHouse, 'database' | 'attach'>) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** Requests among the stored records. */
  get requests(): number {
    return [...this.stored.values()].filter((record) => !('kind' in record)).length;
  }

  async add(records: readonly QueuedRecord[]): Promise<void> {
    this.waiting.push(records);
    await this.drain();
  }

  async drain(): Promise<void> {
    this.world.attach();
    const late: (readonly QueuedRecord[])[] = [];
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      let waiting: ReadonlySet<number> = new Set();
      try {
        await storeLogRecords(
          this.world.database.db,
          next.map((record) => JSON.stringify(record)),
        );
      } catch (error) {
        this.failures++;
        // Rows of the last seconds are on their way, or ClickHouse is away.
        if (!(error instanceof RecordsWaitError)) break;
        waiting = error.waiting;
      }
      this.waiting.shift();
      const rest = next.filter((_, at) => waiting.has(at));
      if (rest.length > 0) late.push(rest);
      for (const [at, record] of next.entries()) {
        const isNew = record.corrects === true || !this.stored.has(record.id);
        if (isNew && !waiting.has(at)) this.stored.set(record.id, record);
      }
    }
    this.waiting.unshift(...late);
  }
}

/** Cost by id. */
export type Costs = Readonly<Record<string, number>>;

export const costsOf = (records: Iterable<Pick<QueuedRecord, 'id' | 'costNanoUsd'>>): Costs =>
  Object.fromEntries(Array.from(records, ({ id, costNanoUsd }): [string, number] => [id, costNanoUsd]).sort());

export const sumOf = (costs: Costs): number => Object.values(costs).reduce((sum, cost) => sum + cost, 0);

interface CostRow extends Record<string, unknown> {
  readonly id: string;
  readonly cost_usd: string | number;
}

/** Of rows in ClickHouse, and in Postgres too unless ClickHouse alone is asked. */
export async function costsOfRows(
  world: Pick<BadClickHouse, 'database' | 'ask'>,
  where: 'both' | 'clickhouse',
): Promise<Costs> {
  const found: CostRow[] = [];
  for (const table of ['gateway_logs', 'tool_calls']) {
    const asked = `select id, cost_usd from ${table}`;
    found.push(...(await world.ask<CostRow>(`${asked} final`)));
    if (where === 'both') found.push(...(await world.database.db.execute<CostRow>(sql.raw(asked))));
  }
  // A row that both have is newer in Postgres.
  const costs = new Map(found.map(({ id, cost_usd: usd }) => [id, Math.round(Number(usd) * 1e9)]));
  return Object.fromEntries([...costs].sort());
}

/** Of Park and Miller. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
