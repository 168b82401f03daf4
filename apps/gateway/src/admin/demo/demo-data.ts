import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { createKeySecret } from '@llm0/core/keys/api-key';
import { chainTargets, findChain } from '@llm0/core/routing/chain';
import type { Target } from '@llm0/core/routing/target';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { projectRows } from '@llm0/drizzle/queries/access/projects';
import { annotationRows } from '@llm0/drizzle/queries/annotations';
import { putCustomerLimits } from '@llm0/drizzle/queries/limits/customer-limits';
import { answers, createRouter, defineRoute, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { mirrorLimits } from '../customers/mirror-limits';
import mix from '../demo-mix.json';
import { count } from '../fields/fields';
import type { DemoLimit } from './demo-failures';
import { type DemoProject, makeDemoRecords } from './demo-records';
import { type DemoStory, tellStory } from './demo-story';

const NANO_USD = 1e9;
const CENT_NANO_USD = NANO_USD / 100;
/** Requests of all customers a day for each cent of the limit. */
const LIMITED_REQUESTS_A_CENT = 75;
/** Project near its cap, and the used share. */
const NEAR_CAP = 1;
const NEAR_SHARE = 0.94;
/** Settlements handed over at once; then the queue is let drain. */
const BATCH = 500;
const MAX_QUEUED = 5000;
const WAIT_MS = 100;
const FLUSH_TIMEOUT_MS = 10_000;

const create = defineRoute({
  method: 'post',
  path: '/demo-data',
  tags: ['history'],
  summary: 'Create sample projects with traffic; not in production',
  request: {
    body: takes(
      z
        .strictObject({ days: count(1, 60).default(14), requests_a_day: count(24, 5000).default(450) })
        .openapi('DemoDataWish'),
    ),
  },
  responses: {
    201: answers(z.object({ projects: z.int(), requests: z.int() }).openapi('DemoData'), 'What was made'),
  },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'clock' | 'config' | 'createId' | 'routing'>;

/** Made-up requests go the way of real ones (settlement, queue, rows), so that counters and rows agree. */
export function demoDataRoutes(services: Needs) {
  const { db, hotStore, clock, config } = services;
  return createRouter().openapi(create, async (c) => {
    if (config.environment === 'production') {
      throw new GatewayError('permission_denied', "Sample data can't be created with ENVIRONMENT=production.");
    }
    const { days, requests_a_day: requestsADay } = c.req.valid('json');
    const projects = await recordChange(db, c.get('actor'), async (tx) => {
      const result = await createProjects(tx);
      await annotate(tx, result, tellStory({ nowMs: clock.nowMs(), days }));
      return {
        result,
        action: 'create',
        resource: 'demo_data',
        resourceId: null,
        after: { days, projects: result.length },
      };
    });
    const limit = await limitOneCustomer(services, projects, requestsADay);
    const { prices, chains } = services.routing();
    const timeoutMs = config.requestTimeoutMs;
    const targetsOf = (wanted: Target) => chainTargets(wanted, findChain(chains, prices, wanted));
    const options = { projects, prices, limit, targetsOf, nowMs: clock.nowMs(), days, requestsADay, timeoutMs };
    let requests = 0;
    const spent = new Map<string, number>();
    const monthMs = startOfMonth(clock.nowMs());
    for (const record of makeDemoRecords({ ...options, createId: services.createId, random: Math.random })) {
      const { id: requestId, projectId, apiKeyId: keyId, customerId, createdAtMs: admittedAtMs, costNanoUsd } = record;
      const at = { requestId, projectId, keyId, customerId, admittedAtMs };
      hotStore.settle({ ...at, held: false, costNanoUsd, tokens: 0, record: JSON.stringify(record) });
      if (admittedAtMs >= monthMs) spent.set(projectId, (spent.get(projectId) ?? 0) + costNanoUsd);
      if (++requests % BATCH === 0) await drainedBelow(services, MAX_QUEUED);
    }
    await hotStore.flush(FLUSH_TIMEOUT_MS);
    await nearCap(services, projects[NEAR_CAP], spent);
    return c.json({ projects: projects.length, requests }, 201);
  });
}

async function createProjects(tx: Needs['db']): Promise<readonly DemoProject[]> {
  const projects: DemoProject[] = [];
  for (const { name, team, cap_usd: capUsd, weight, keys, models } of mix.projects) {
    const monthlyCapNanoUsd = capUsd === null ? null : capUsd * NANO_USD;
    const project = await projectRows.create(tx, {
      ...{ name, monthlyCapNanoUsd, labels: { team } },
      // Its requests have semantic hits.
      semanticCacheEnabled: true,
    });
    const keyIds: string[] = [];
    for (const keyName of keys) {
      // Nobody sees these secrets; the keys only name the rows.
      const { hash, prefix } = createKeySecret();
      const key = await keyRows.create(tx, {
        projectId: project.id,
        name: keyName,
        hash,
        prefix,
        rateLimitPerMinute: 600,
      });
      keyIds.push(key.id);
    }
    projects.push({ id: project.id, weight, team, models, keyIds });
  }
  return projects;
}

/** Adds annotations as an operator would. */
async function annotate(tx: Needs['db'], projects: readonly DemoProject[], story: DemoStory): Promise<void> {
  const { outage, deployMs } = story;
  const projectId = projects[NEAR_CAP]?.id ?? null;
  const told = [
    { atMs: deployMs, kind: 'deploy', text: 'Support triage 4.2: tickets of the night in one batch', projectId },
    {
      atMs: outage.fromMs,
      kind: 'incident',
      text: `${outage.provider} is down, says its status page`,
      projectId: null,
    },
  ] as const;
  for (const one of told) await annotationRows.create(tx, { ...one, actor: 'demo data' });
}

/** Makes one project nearly reach its monthly cap on any day. */
async function nearCap(
  { db, hotStore }: Needs,
  project: DemoProject | undefined,
  spent: ReadonlyMap<string, number>,
): Promise<void> {
  const nanoUsd = spent.get(project?.id ?? '') ?? 0;
  if (project === undefined || nanoUsd === 0) return;
  const monthlyCapNanoUsd = Math.ceil(nanoUsd / NEAR_SHARE / (NANO_USD / 100)) * (NANO_USD / 100);
  const changed = await projectRows.update(db, { id: project.id }, { monthlyCapNanoUsd });
  if (changed !== null) await hotStore.setVersions(project.id, changed.version, []);
}

const startOfMonth = (ms: number) => Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth());

/** A good day of the customer costs more, so that some days end with refusals. */
async function limitOneCustomer(
  services: Needs,
  projects: readonly DemoProject[],
  requestsADay: number,
): Promise<DemoLimit | undefined> {
  const [project] = projects;
  const [, customerId] = mix.customers;
  if (project === undefined || customerId === undefined) return undefined;
  const at = { projectId: project.id, customerId };
  const dailyNanoUsd = Math.ceil(requestsADay / LIMITED_REQUESTS_A_CENT) * CENT_NANO_USD;
  await putCustomerLimits(services.db, at, {
    dailySpendLimitNanoUsd: dailyNanoUsd,
    monthlySpendLimitNanoUsd: 31 * dailyNanoUsd,
  });
  await mirrorLimits(services, at);
  return { ...at, dailyNanoUsd };
}

async function drainedBelow({ hotStore }: Needs, entries: number): Promise<void> {
  while ((await hotStore.depth()).entries > entries) await Bun.sleep(WAIT_MS);
}
