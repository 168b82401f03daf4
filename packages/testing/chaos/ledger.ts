import { allLogs, type Reconciliation } from '../e2e/environment';
import { callAdmin, type GatewayProcess } from '../stores/start-gateway';
import { unevenBudgets } from './chaos-budgets';
import type { ChaosKeys } from './chaos-keys';
import type { ChaosAnswer } from './chaos-load';

/** What a run comes to. */
export interface ChaosLedger {
  readonly answered: number;
  readonly rows: number;
  /** Answered requests without a row. */
  readonly missing: readonly string[];
  /** Requests with more than one row. */
  readonly doubled: readonly string[];
  /** Projects' months. */
  readonly months: number;
  /** Σ |counter − Σ rows| in nano-USD. */
  readonly differenceNanoUsd: number;
  /** Σ |roll-ups − Σ rows| in nano-USD. */
  readonly rollupDifferenceNanoUsd: number;
  /** Budgets that spent other than the rows of their period. */
  readonly unevenBudgets: readonly string[];
  readonly holds: number;
  readonly queued: number;
  /** Answers whose row has another cost than the client was told: shown, not counted as uneven. */
  readonly costsChanged: readonly string[];
}

export const isEven = (ledger: ChaosLedger): boolean =>
  ledger.missing.length + ledger.doubled.length + ledger.unevenBudgets.length + ledger.holds + ledger.queued === 0 &&
  ledger.differenceNanoUsd === 0 &&
  ledger.rollupDifferenceNanoUsd === 0;

const POLL_MS = 100;
const BACK_TIMEOUT_MS = 10_000;
const toNano = (usd: number) => Math.round(usd * 1e9);

export interface LedgerInput {
  readonly gateway: GatewayProcess;
  readonly keys: ChaosKeys;
  readonly answers: ReadonlyMap<string, ChaosAnswer>;
  /** The run's clock. */
  readonly nowMs: number;
  readonly startedAtMs: number;
  /** How long queue and leases may take. */
  readonly timeoutMs: number;
}

/** Waits until queue and leases are settled, then compares everything with everything. */
export async function readChaosLedger(input: LedgerInput): Promise<ChaosLedger> {
  const { gateway, answers } = input;
  const books = await whileAway(() => settle(input));
  const rows = await whileAway(() =>
    Promise.all(projectsOf(input.keys).map((id) => allLogs(gateway, `project_id=${id}`))),
  ).then((pages) => pages.flat());
  const byRequest = new Map<string, number[]>();
  for (const row of rows) {
    const costs = byRequest.get(row.request_id) ?? [];
    byRequest.set(row.request_id, [...costs, toNano(row.cost_usd)]);
  }
  const answered = [...answers];
  return {
    answered: answers.size,
    rows: rows.length,
    missing: answered.flatMap(([id, { kind, status }]) => (byRequest.has(id) ? [] : [`${id} ${kind} ${status}`])),
    doubled: [...byRequest].flatMap(([id, costs]) => (costs.length > 1 ? [id] : [])),
    months: books.projects.length,
    differenceNanoUsd: books.projects.reduce((sum, { diff_usd }) => sum + Math.abs(toNano(diff_usd)), 0),
    rollupDifferenceNanoUsd: await whileAway(() => compareRollups(input, rows)),
    unevenBudgets: await whileAway(() => unevenBudgets(gateway, input.keys.budgeted, input.nowMs)),
    holds: books.open_holds,
    queued: books.queue_depth,
    costsChanged: answered.flatMap(([id, { costNanoUsd, kind }]) => {
      const [cost] = byRequest.get(id) ?? [];
      return costNanoUsd === undefined || cost === undefined || cost === costNanoUsd
        ? []
        : [`${id} ${kind} told ${costNanoUsd}, row ${cost}`];
    }),
  };
}

/** A Postgres that has just come back is not yet known to every connection: who asks then is told to try again. */
async function whileAway<T>(read: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + BACK_TIMEOUT_MS;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!String(error).includes(': 503 ') || performance.now() > endMs) throw error;
      await Bun.sleep(POLL_MS);
    }
  }
}

async function settle({ gateway, timeoutMs }: LedgerInput): Promise<Reconciliation> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const books = await callAdmin<Reconciliation>(gateway, '/reconcile');
    if ((books.ok && books.open_holds === 0) || performance.now() > endMs) return books;
    await Bun.sleep(POLL_MS);
  }
}

const projectsOf = (keys: ChaosKeys) => Object.values(keys).map(({ projectId }) => projectId);

async function compareRollups(
  { gateway, keys, nowMs, startedAtMs }: LedgerInput,
  rows: readonly { readonly project_id?: string; readonly cost_usd: number }[],
): Promise<number> {
  const day = (ms: number) => `${new Date(ms).toISOString().slice(0, 10)}T00:00:00Z`;
  const range = `from=${day(startedAtMs)}&to=${day(nowMs + 86_400_000)}`;
  const sums = await Promise.all(
    projectsOf(keys).map((id) =>
      callAdmin<{ cost_usd: number; requests: number }>(gateway, `/stats/overview?project_id=${id}&${range}`),
    ),
  );
  const rolledUp = sums.reduce((sum, { cost_usd }) => sum + toNano(cost_usd), 0);
  const counted = sums.reduce((sum, { requests }) => sum + requests, 0);
  const spent = rows.reduce((sum, { cost_usd }) => sum + toNano(cost_usd), 0);
  return Math.abs(rolledUp - spent) + Math.abs(counted - rows.length);
}
