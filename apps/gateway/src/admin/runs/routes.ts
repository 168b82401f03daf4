import { z } from '@hono/zod-openapi';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { formatUsdText } from '@llm0/core/pricing/format-usd';
import type { Db } from '@llm0/drizzle/client';
import { rowsBefore } from '@llm0/drizzle/queries/clickhouse/log-engine';
import {
  findRunProject,
  findRuns,
  listRunItems,
  listRuns,
  loadRunUsage,
  runRows,
  type StoredRun,
} from '@llm0/drizzle/queries/limits/runs';
import type { ProjectScope } from '@llm0/drizzle/queries/of-projects';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { pageOf, pageQuery, projectIds, showPage } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { mayChangeRun, refuseForeignRun } from './own-runs';
import { raiseSchema, runDetailSchema, runSchema, runState, type ShownRun, showRun, showRunItem } from './schema';

const MOST_ITEMS = 1000;
const at = routesOf('runs');
const params = z.object({ id: z.string().min(1).max(128).openapi({ description: '`X-LLM0-Run-Id`' }) });
const query = z.strictObject({
  project_id: projectIds,
});

const list = defineRoute({
  ...at('get', '/runs', 'List runs with a budget, newest first'),
  request: { query: z.strictObject({ project_id: projectIds, state: runState.optional(), ...pageQuery }) },
  responses: { 200: answers(pageOf(runSchema), 'Runs') },
});
const show = defineRoute({
  ...at('get', '/runs/{id}', 'Show a run with its requests and tool calls'),
  request: { params, query },
  responses: { 200: answers(runDetailSchema, 'The run') },
});
const raise = defineRoute({
  ...at('post', '/runs/{id}/raise', 'Raise the budget of a run, which continues from its next request'),
  request: { params, query, body: takes(raiseSchema) },
  responses: { 200: answers(runSchema, 'The run as it is now') },
});
const stop = defineRoute({
  ...at('post', '/runs/{id}/stop', 'Stop a run for good: its requests get 402 run_stopped'),
  request: { params, query },
  responses: { 200: answers(runSchema, 'The run as it is now') },
});

type Needs = Pick<AdminServices, 'db' | 'clock' | 'runs'>;
type Asked = { readonly runId: string; readonly projectId: ProjectScope };

/** Throws `conflict` for a name of several projects. */
async function findNamed(db: Db, { runId, projectId }: Asked) {
  const found = await findRuns(db, runId, projectId);
  if (found.length < 2) return found[0] ?? null;
  const message = 'Several projects have a run of this name. Name one by project_id.';
  throw new GatewayError('conflict', message, { param: 'project_id' });
}

/** Throws for a budget with which the run couldn't go on. */
async function refuseRaise(db: Db, run: StoredRun, budgetNanoUsd: number): Promise<void> {
  if (run.stoppedAtMs !== null) throw new GatewayError('conflict', 'The run was stopped. Begin another run.');
  if (budgetNanoUsd <= run.budgetNanoUsd)
    throw invalidRequest('budget_usd', 'budget_usd must be above the present budget.');
  const { spentNanoUsd } = await loadRunUsage(db, run, await rowsBefore(db));
  if (budgetNanoUsd <= spentNanoUsd)
    throw invalidRequest('budget_usd', `budget_usd must be above ${formatUsdText(spentNanoUsd)}, which is spent.`);
}

type Older = Awaited<ReturnType<typeof rowsBefore>>;

export function runRoutes({ db, clock, runs }: Needs) {
  const changes = new AuditedChanges(db, {
    ...{ resource: 'run', idOf: ({ run }: ShownRun) => `${run.projectId}/${run.runId}` },
    show: showRun,
    goLive: ({ run }) => runs.tell(run),
  });
  const withUsage = async (run: ShownRun['run'], older: Older, by: Db = db): Promise<ShownRun> => ({
    run,
    usage: await loadRunUsage(by, run, older),
  });
  const findOne = (asked: Asked) => findNamed(db, asked);
  const change = async (
    asked: Asked,
    actor: Parameters<typeof changes.update>[0],
    set: Parameters<typeof runRows.update>[2],
  ) => {
    const { id: rowId } = required(await findOne(asked), 'run with a budget');
    const older = await rowsBefore(db);
    const shown = async (run: ShownRun['run'] | null, tx: Db) => run && withUsage(run, older, tx);
    return changes.update(
      actor,
      async (tx) => shown(await runRows.get(tx, { id: rowId }), tx),
      async (tx) => shown(await runRows.update(tx, { id: rowId }, set), tx),
    );
  };
  return createRouter()
    .openapi(list, async (c) => {
      const { project_id: projectId, state, ...page } = c.req.valid('query');
      const { data, ...rest } = await listRuns(db, page, { projectId, state });
      const older = await rowsBefore(db);
      const shown = await Promise.all(data.map((run) => withUsage(run, older)));
      return c.json(showPage({ ...rest, data: shown }, showRun), 200);
    })
    .openapi(show, async (c) => {
      const asked = { runId: c.req.valid('param').id, projectId: c.req.valid('query').project_id };
      const known = await findOne(asked);
      const projectId = known?.projectId ?? (await findRunProject(db, asked.runId, asked.projectId));
      const run = known ?? { runId: asked.runId, projectId: required(projectId, 'run') };
      const shown = await withUsage(run, await rowsBefore(db));
      if (known === null && shown.usage.firstAtMs === null) required(null, 'run');
      const items = await listRunItems(db, run, MOST_ITEMS);
      const mayChange = known !== null && (await mayChangeRun(db, c.get('actor'), known));
      return c.json({ ...showRun(shown), may_change: mayChange, items: items.map(showRunItem) }, 200);
    })
    .openapi(raise, async (c) => {
      const asked = { runId: c.req.valid('param').id, projectId: c.req.valid('query').project_id };
      const { budget_usd: budgetNanoUsd } = c.req.valid('json');
      const before = required(await findOne(asked), 'run with a budget');
      await refuseForeignRun(db, c.get('actor'), { run: before, budgetNanoUsd });
      await refuseRaise(db, before, budgetNanoUsd);
      return c.json(showRun(await change(asked, c.get('actor'), { budgetNanoUsd, pausedAtMs: null })), 200);
    })
    .openapi(stop, async (c) => {
      const asked = { runId: c.req.valid('param').id, projectId: c.req.valid('query').project_id };
      await refuseForeignRun(db, c.get('actor'), { run: required(await findOne(asked), 'run with a budget') });
      return c.json(showRun(await change(asked, c.get('actor'), { stoppedAtMs: clock.nowMs() })), 200);
    });
}
