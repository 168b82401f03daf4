import { z } from '@hono/zod-openapi';
import { parseJson } from '@llm0/core/chat/json';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { type PastVerdict, RuleReplay } from '@llm0/core/guardrails/replay-rules';
import { findGuardrails } from '@llm0/drizzle/queries/access/guardrails';
import { loadGuardrailStats } from '@llm0/drizzle/queries/guardrails/guardrail-stats';
import { type KeptBodies, listKeptBodies } from '@llm0/drizzle/queries/guardrails/kept-bodies';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id } from '../fields/fields';
import { requireProject } from '../fields/find-or-refuse';
import { showInstant } from '../fields/show-fields';
import { mayNotReadBodies } from '../logs/read-bodies';
import { toBucketQuery } from '../stats/schema';
import { type RuleNeeds, refuseRules } from './refuse-rules';
import {
  guardrailStatsQuerySchema,
  guardrailStatsSchema,
  replayedSchema,
  replaySchema,
  showBucket,
  showHit,
  showSum,
} from './replay-schema';

const at = routesOf('guardrails');

const replay = defineRoute({
  ...at('post', '/projects/{id}/guardrails/replay', 'Test the rules on stored requests (LOG_BODIES)'),
  description:
    'Judges the newest requests of which prompts and answers were kept, for at most 10 s. Nothing is sent, changed or logged; ' +
    'models and webhooks are not asked. What was taken out before bodies were kept (keys and tokens) cannot be found any more.',
  request: { params: z.object({ id }), body: takes(replaySchema) },
  responses: { 200: answers(replayedSchema, 'By rule, and the requests in which something was found') },
});
const stats = defineRoute({
  method: 'get',
  path: '/stats/guardrails',
  tags: ['stats'],
  summary: 'Guardrail findings over time, by rule, check, action or project',
  description: 'Buckets without findings are omitted. Counts are exact. Hours last 90 days, days forever.',
  request: { query: guardrailStatsQuerySchema },
  responses: { 200: answers(guardrailStatsSchema, 'Buckets, oldest first') },
});

const WEEK_MS = 7 * 86_400_000;
const MOST_MS = 10_000;
/** Bodies that are in memory at once. */
const PAGE = 50;
const MOST_HITS = 100;

type Needs = Pick<AdminServices, 'db' | 'clock'> & RuleNeeds;

/** Guardrail findings, enforced and in shadow mode. */
export function guardrailReplayRoutes(services: Needs) {
  const { db, clock, guardrailChecks } = services;
  let isRunning = false;
  return createRouter()
    .openapi(replay, async (c) => {
      const { id: projectId } = c.req.valid('param');
      const { rules: given, from, to, limit } = c.req.valid('json');
      if (!c.get('actor').may('read_bodies')) throw mayNotReadBodies();
      const project = await requireProject(db, projectId);
      if (given !== undefined) await refuseRules(services, { rules: given, project });
      const rules = given ?? (await findGuardrails(db, projectId))?.rules ?? [];
      const toMs = to === undefined ? clock.nowMs() + 1 : Date.parse(to);
      const fromMs = from === undefined ? toMs - WEEK_MS : Date.parse(from);
      if (fromMs > toMs) throw invalidRequest('from', 'from must not be later than to.');
      if (isRunning) throw new GatewayError('conflict', 'Another replay is running. Wait until it ends.');
      isRunning = true;
      try {
        const run = new RuleReplay(rules, { checks: guardrailChecks, projectId });
        const replayed = await replayAll(services, run, { projectId, fromMs, toMs, limit });
        return c.json({ ...replayed, rules: run.summary().map(showSum) }, 200);
      } finally {
        isRunning = false;
      }
    })
    .openapi(stats, async (c) => {
      const { rule, outcome, group_by: groupBy, ...rest } = c.req.valid('query');
      const { fromMs, toMs, nowMs, intervalMs, projectId } = toBucketQuery(rest, clock.nowMs());
      const query = { fromMs, toMs, nowMs, intervalMs, projectId, rule, outcome, groupBy };
      return c.json({ buckets: (await loadGuardrailStats(db, query)).map(showBucket) }, 200);
    });
}

interface ReplayRange {
  readonly projectId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
}

async function replayAll({ db }: Pick<Needs, 'db'>, run: RuleReplay, { limit, ...range }: ReplayRange) {
  const endMs = performance.now() + MOST_MS;
  const hits: PastVerdict[] = [];
  let blocked = 0;
  let requests = 0;
  let before: KeptBodies | undefined;
  let isComplete = false;
  while (!isComplete && requests < limit && performance.now() < endMs) {
    const most = Math.min(PAGE, limit - requests);
    const page = await listKeptBodies(db, { ...range, limit: most, before });
    isComplete = page.length < most;
    for (const kept of page) {
      if (performance.now() > endMs) {
        isComplete = false;
        break;
      }
      const verdict = await run.judge({ ...kept, request: read(kept.request), response: read(kept.response) });
      requests += 1;
      before = kept;
      if (verdict === undefined) continue;
      if (verdict.blockedBy !== null) blocked += 1;
      if (hits.length < MOST_HITS) hits.push(verdict);
    }
  }
  const oldestMs = isComplete ? range.fromMs : (before?.createdAtMs ?? range.fromMs);
  return {
    ...{ requests, blocked, is_complete: isComplete, hits: hits.map(showHit) },
    ...{ from: showInstant(oldestMs), to: showInstant(range.toMs) },
  };
}

/** A body that was cut is no JSON any more: then it is a text. */
const read = (text: string | null) => (text === null ? null : (parseJson(text) ?? text));
