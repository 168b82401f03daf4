import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Labels } from '../keys/api-key';
import type { LogRecord } from '../logs/log-record';
import { type BudgetSum, covers } from './budgets';
import type {
  AdmitPlan,
  AdmitRequest,
  HotStore,
  LostBooking,
  RebuildData,
  RebuildSource,
  Settlement,
} from './hot-store';
import { openRedis } from './redis/connection';

/** `gateway_logs` in memory: what a store is rebuilt from in tests. */
export class StoredRows implements RebuildSource {
  readonly rows = new Map<string, LogRecord>();
  limits: RebuildData['customerLimits'] = [];
  /** Projects or keys by level. */
  readonly members = new Map<string, ReadonlySet<string>>();
  /** Rows that came more than once, corrections not counted. */
  doubled = 0;

  async storeRecords(records: readonly string[]): Promise<void> {
    for (const text of records) {
      const record = JSON.parse(text) as LogRecord;
      if (this.rows.has(record.id) && record.corrects !== true) this.doubled++;
      else this.rows.set(record.id, record);
    }
  }

  async findStored(requests: readonly { id: string }[]): Promise<ReadonlySet<string>> {
    return new Set(requests.map(({ id }) => id).filter((id) => this.rows.has(id)));
  }

  async findLost(requests: readonly { id: string }[]): Promise<ReadonlyMap<string, LostBooking>> {
    const rows = requests
      .flatMap(({ id }) => this.rows.get(id) ?? [])
      .filter((row) => row.errorCode === 'gateway_lost');
    return new Map(rows.map(({ id, costNanoUsd, createdAtMs }) => [id, { costNanoUsd, createdAtMs }]));
  }

  async loadSpend(_nowMs: number): Promise<RebuildData> {
    return {
      projectMonths: this.sum((row) => ({ projectId: row.projectId, month: period(row, 7) })),
      keyMonths: this.sum((row) => ({ projectId: row.projectId, keyId: row.apiKeyId, month: period(row, 7) })),
      keyTotals: this.sum((row) => ({ projectId: row.projectId, keyId: row.apiKeyId })),
      customerDays: this.sum(({ customerId, ...row }) =>
        customerId === undefined ? undefined : { projectId: row.projectId, customerId, day: period(row, 10) },
      ),
      customerMonths: this.sum(({ customerId, ...row }) =>
        customerId === undefined ? undefined : { projectId: row.projectId, customerId, month: period(row, 7) },
      ),
      customerLimits: this.limits,
    };
  }

  async membersOf({ levelId }: { readonly levelId: string }): Promise<ReadonlySet<string>> {
    return this.members.get(levelId) ?? new Set();
  }

  async sumBudget({ projectId, owner, fromMs, toMs, except }: BudgetSum): Promise<number> {
    const members = 'levelId' in owner ? await this.membersOf(owner) : undefined;
    const rows = [...this.rows.values()].filter(
      (row) =>
        (members !== undefined || owner.scope === 'share' || row.projectId === projectId) &&
        row.createdAtMs >= fromMs &&
        row.createdAtMs < toMs &&
        !except.includes(row.id) &&
        covers({ owner, members }, { projectId: row.projectId, keyId: row.apiKeyId, record: JSON.stringify(row) }),
    );
    return rows.reduce((sum, row) => sum + row.costNanoUsd, 0);
  }

  /** Everything in the queue becomes a row. */
  async drain(store: HotStore): Promise<number> {
    let drained = 0;
    for (;;) {
      const entries = await store.read(500, 0);
      if (entries.length === 0) return drained;
      await this.storeRecords(entries.map(({ record }) => record));
      await store.acknowledge(entries.map(({ entryId }) => entryId));
      drained += entries.length;
    }
  }

  get costNanoUsd(): number {
    return [...this.rows.values()].reduce((sum, row) => sum + row.costNanoUsd, 0);
  }

  private sum<K extends object>(keyOf: (row: LogRecord) => K | undefined): (K & { spentNanoUsd: number })[] {
    const sums = new Map<string, K & { spentNanoUsd: number }>();
    for (const row of this.rows.values()) {
      const key = keyOf(row);
      if (key === undefined) continue;
      const name = JSON.stringify(key);
      const spentNanoUsd = (sums.get(name)?.spentNanoUsd ?? 0) + row.costNanoUsd;
      sums.set(name, { ...key, spentNanoUsd });
    }
    return [...sums.values()];
  }
}

function period(row: { readonly createdAtMs: number }, length: number): string {
  return new Date(row.createdAtMs).toISOString().slice(0, length);
}

/** The smallest record a queue entry needs; `extra` wins. */
export function recordText(
  settlement: Pick<Settlement, 'requestId' | 'projectId' | 'keyId' | 'customerId' | 'admittedAtMs' | 'costNanoUsd'>,
  labels?: Labels,
  runId?: string,
): string {
  return JSON.stringify({
    id: settlement.requestId,
    createdAtMs: settlement.admittedAtMs,
    projectId: settlement.projectId,
    apiKeyId: settlement.keyId,
    customerId: settlement.customerId,
    costNanoUsd: settlement.costNanoUsd,
    labels,
    runId,
  });
}

export function planOf(
  plan: Partial<AdmitPlan> & { requestId: string; projectId: string; keyId: string; customerId?: string },
): AdmitPlan {
  const { requestId, projectId, keyId, customerId, ...rest } = plan;
  const lost = { id: requestId, projectId, apiKeyId: keyId, customerId, status: 'error', errorCode: 'gateway_lost' };
  return { model: 'big', holdNanoUsd: 100, lostNanoUsd: 40, tokens: 10, lostRecord: JSON.stringify(lost), ...rest };
}

export function requestOf(
  request: Partial<Omit<AdmitRequest, 'requested'>> & { requested?: Partial<AdmitPlan> },
): AdmitRequest {
  const ids = {
    requestId: request.requestId ?? crypto.randomUUID(),
    projectId: request.projectId ?? 'project-1',
    keyId: request.keyId ?? 'key-1',
  };
  const customer = request.customerId === undefined ? {} : { customerId: request.customerId };
  return {
    keyVersion: 1,
    projectVersion: 1,
    reloaded: true,
    projectCapNanoUsd: null,
    keyBudgetNanoUsd: null,
    keyBudgetPeriod: 'month',
    tokensPerMinute: null,
    maxConcurrency: null,
    maxCustomers: null,
    ...request,
    ...ids,
    requested: planOf({ ...ids, ...customer, ...request.requested }),
  };
}

/** The settlement of an admitted request. */
export function settlementOf(request: AdmitRequest, nowMs: number, end: Partial<Settlement> = {}): Settlement {
  const { requestId, projectId, keyId, customerId } = request;
  const customer = customerId === undefined ? {} : { customerId };
  const settlement = {
    requestId,
    projectId,
    keyId,
    ...customer,
    admittedAtMs: nowMs,
    held: true,
    costNanoUsd: 70,
    tokens: 10,
    ...end,
  };
  return { ...settlement, record: end.record ?? recordText(settlement) };
}

/** The real server tests run against; `apps/gateway/bin/test.ts` starts one. */
export function testRedisUrl(): string {
  const url = process.env.TEST_REDIS_URL;
  if (url === undefined || url === '')
    throw new Error('TEST_REDIS_URL is not set: start a redis-server and point it there');
  return url;
}

/** Removes every key of one namespace, as FLUSHALL would. */
export async function flushNamespace(url: string, namespace: string): Promise<void> {
  const client = openRedis(url);
  try {
    let cursor = '0';
    do {
      const [next, keys] = await client.scan(cursor, 'MATCH', `${namespace}:*`, 'COUNT', 1000);
      if (keys.length > 0) await client.unlink(...keys);
      cursor = next;
    } while (cursor !== '0');
  } finally {
    client.disconnect();
  }
}

export interface TempDir {
  readonly path: string;
  remove(): void;
}

export function makeTempDir(): TempDir {
  const path = mkdtempSync(join(tmpdir(), 'llm0-store-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
