import { z } from '@hono/zod-openapi';
import type { ProjectCounter } from '@llm0/core/limits/hot-store';
import { type LedgerMonth, reconcileLedger } from '@llm0/drizzle/queries/limits/reconcile';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { askHotStore } from '../ask-hot-store';
import { id, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';

const monthSchema = z.object({
  project_id: id,
  month: z.string(),
  counter_usd: usdShown,
  logs_usd: usdShown,
  diff_usd: usdShown,
});
const reconcileSchema = z
  .object({
    ok: z.boolean().openapi({ description: 'The queue is empty and every difference is 0' }),
    queue_depth: z.int(),
    open_holds: z.int(),
    projects: z.array(monthSchema),
  })
  .openapi('Reconciliation');

const reconcile = defineRoute({
  method: 'get',
  path: '/reconcile',
  tags: ['stats'],
  summary: 'Compare counters with rows, by project and month',
  request: { query: z.strictObject({ project_id: id.optional() }) },
  responses: { 200: answers(reconcileSchema, 'Both sides and their difference') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'clock'>;

export function reconcileRoutes(services: Needs) {
  return createRouter().openapi(reconcile, async (c) => {
    const { project_id: projectId } = c.req.valid('query');
    const { months, ...queue } = await readLedger(services, projectId?.toLowerCase());
    const ok = queue.queueDepth === 0 && months.every((month) => month.diffNanoUsd === 0);
    const projects = months.map((month) => showFields(monthSchema, month));
    return c.json(showFields(reconcileSchema, { ok, ...queue, projects }), 200);
  });
}

interface Ledger {
  readonly queueDepth: number;
  readonly openHolds: number;
  readonly months: readonly LedgerMonth[];
}

const ATTEMPTS = 3;

/** Two stores can't be read at one instant: rereads if the counters moved in between. */
async function readLedger({ db, hotStore, clock }: Needs, projectId: string | undefined): Promise<Ledger> {
  let counters = await askHotStore(() => hotStore.counters());
  for (let attempt = 1; ; attempt++) {
    // In a request's order: a hold becomes an entry, which leaves the queue after the commit of its row.
    const openHolds = await askHotStore(() => hotStore.openHolds('money'));
    const { entries: queueDepth } = await askHotStore(() => hotStore.depth());
    const months = await reconcileLedger(db, { counters, nowMs: clock.nowMs(), projectId, source: 'rows' });
    const later = await askHotStore(() => hotStore.counters());
    if (attempt === ATTEMPTS || isSame(counters, later)) return { queueDepth, openHolds, months };
    counters = later;
  }
}

function isSame(before: readonly ProjectCounter[], after: readonly ProjectCounter[]): boolean {
  const sums = (counters: readonly ProjectCounter[]) =>
    counters.map((counter) => `${counter.month} ${counter.projectId} ${counter.spentNanoUsd}`).sort();
  return sums(before).join() === sums(after).join();
}
