import { createRoute, z } from '@hono/zod-openapi';
import type { HotStore, ProjectCounter } from '@llm0/core/admission/hot-store';
import type { Db } from '@llm0/drizzle/client';
import { type MonthSpend, sumMonths } from '@llm0/drizzle/queries/spend-sums';
import { answers, createRouter } from './admin-router';
import type { AdminServices } from './admin-services';
import { id, usdShown } from './fields';
import { jsonUsd } from './json-money';

const reconcileSchema = z
  .object({
    ok: z.boolean().openapi({ description: 'The queue is empty and every difference is 0' }),
    queue_depth: z.int(),
    open_holds: z.int(),
    projects: z.array(
      z.object({ project_id: id, month: z.string(), counter_usd: usdShown, logs_usd: usdShown, diff_usd: usdShown }),
    ),
  })
  .openapi('Reconciliation');

const reconcile = createRoute({
  method: 'get',
  path: '/reconcile',
  tags: ['stats'],
  summary: 'Compare the counters of the hot store with the rows, by project and month (this and the last)',
  request: { query: z.strictObject({ project_id: id.optional() }) },
  responses: { 200: answers(reconcileSchema, 'Both sides and their difference') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'clock'>;

export function reconcileRoutes(services: Needs) {
  return createRouter().openapi(reconcile, async (c) => {
    const { project_id: projectId } = c.req.valid('query');
    const ledger = await readLedger(services, projectId);
    const projects = ledger.lines.map((line) => ({
      project_id: line.projectId,
      month: line.month,
      counter_usd: jsonUsd(line.counterNanoUsd),
      logs_usd: jsonUsd(line.logsNanoUsd),
      diff_usd: jsonUsd(line.counterNanoUsd - line.logsNanoUsd),
    }));
    const ok = ledger.queueDepth === 0 && ledger.lines.every((line) => line.counterNanoUsd === line.logsNanoUsd);
    return c.json({ ok, queue_depth: ledger.queueDepth, open_holds: ledger.openHolds, projects }, 200);
  });
}

interface LedgerLine {
  readonly projectId: string;
  readonly month: string;
  readonly counterNanoUsd: number;
  readonly logsNanoUsd: number;
}

interface Ledger {
  readonly queueDepth: number;
  readonly openHolds: number;
  readonly lines: readonly LedgerLine[];
}

const ATTEMPTS = 3;

/** Both sides can't be read at one instant: where the counters moved in between, they are read again. */
async function readLedger(services: Needs, projectId: string | undefined): Promise<Ledger> {
  const { db, hotStore } = services;
  const fromMonth = lastMonth(services.clock.nowMs());
  let before = await readCounters(hotStore, fromMonth, projectId);
  for (let attempt = 1; ; attempt++) {
    // Before the rows: what is no longer queued then is in them, since entries leave the queue after the commit.
    const { entries: queueDepth } = await hotStore.depth();
    const rows = await readRows(db, fromMonth, projectId);
    const after = await readCounters(hotStore, fromMonth, projectId);
    if (attempt === ATTEMPTS || isSame(before, after)) {
      return { queueDepth, openHolds: await hotStore.openHolds(), lines: compare(after, rows) };
    }
    before = after;
  }
}

function compare(counters: Sums, rows: Sums): readonly LedgerLine[] {
  const names = [...new Set([...counters.keys(), ...rows.keys()])].sort();
  return names.map((name) => {
    const [month = '', projectId = ''] = name.split(' ');
    return { projectId, month, counterNanoUsd: counters.get(name) ?? 0, logsNanoUsd: rows.get(name) ?? 0 };
  });
}

/** Nano-USD by `<month> <project id>`. */
type Sums = ReadonlyMap<string, number>;

function sumsOf(entries: readonly (ProjectCounter | MonthSpend)[]): Sums {
  return new Map(entries.map((entry) => [`${entry.month} ${entry.projectId}`, entry.spentNanoUsd]));
}

async function readCounters(hotStore: HotStore, fromMonth: string, projectId: string | undefined): Promise<Sums> {
  const counters = await hotStore.counters();
  const isWanted = (counter: ProjectCounter) =>
    counter.month >= fromMonth && (projectId === undefined || counter.projectId === projectId.toLowerCase());
  return sumsOf(counters.filter(isWanted));
}

async function readRows(db: Db, fromMonth: string, projectId: string | undefined): Promise<Sums> {
  return sumsOf(await sumMonths(db, { projectId, fromMonth, source: 'rows' }));
}

function isSame(a: Sums, b: Sums): boolean {
  return a.size === b.size && [...a].every(([name, nanoUsd]) => b.get(name) === nanoUsd);
}

/** `YYYY-MM` of the month before this one, UTC: rows are kept at least that long. */
function lastMonth(nowMs: number): string {
  const now = new Date(nowMs);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}
