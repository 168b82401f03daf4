import { z } from '@hono/zod-openapi';
import { thresholdProblem } from '@llm0/core/alerts/check-threshold';
import { ALERT_KIND_FACTS } from '@llm0/core/alerts/kinds';
import type { ReplayQuery } from '@llm0/core/alerts/replay';
import { webhookBody } from '@llm0/core/alerts/webhook-bodies';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import {
  alertRows,
  deleteAlert,
  endFiring,
  firingRows,
  listFiringNow,
  type StoredAlert,
} from '@llm0/drizzle/queries/alerts';
import { isUnresolved } from '@llm0/providers/transport/upstream-failure';
import { isMailto } from '../../observe/send-mail';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { id, pageOf, pageQuery, projectIds, queryNumber, showPage } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import type { AnswerKept } from '../stats/keep-answers';
import { alertPreviewSchema } from './preview-schema';
import {
  alertChangesSchema,
  alertSchema,
  alertFields as fields,
  firingSchema,
  listedAlertSchema,
  MAX_WINDOW_MINUTES,
  newAlertSchema,
  showAlert,
  showFiring,
  showListedAlert,
} from './schema';

const at = routesOf('alerts');
const MINUTE_MS = 60_000;

const WEEK_MS = MAX_WINDOW_MINUTES * MINUTE_MS;
const previewQuery = z.strictObject({
  kind: fields.kind,
  threshold: queryNumber().pipe(fields.threshold).optional(),
  window_minutes: queryNumber().pipe(fields.window_minutes).default(15),
  objective: queryNumber().pipe(fields.objective.unwrap()).optional(),
  project_id: projectIds,
});
const preview = defineRoute({
  ...at('get', '/alert-preview', "Replay an alert's condition over the last week"),
  request: {
    query: previewQuery,
  },
  responses: {
    200: answers(alertPreviewSchema, 'When, and the most that was measured; with the budgets in force now'),
  },
});
const params = z.object({ id });
const create = defineRoute({
  ...at('post', '/alerts', 'Call a webhook when a threshold is passed, and again on recovery'),
  request: { body: takes(newAlertSchema) },
  responses: { 201: answers(alertSchema, 'The new alert') },
});
const list = defineRoute({
  ...at('get', '/alerts', 'List alerts, newest first'),
  request: { query: z.strictObject({ project_id: projectIds, ...pageQuery }) },
  responses: { 200: answers(pageOf(listedAlertSchema), 'Alerts') },
});
const show = defineRoute({
  ...at('get', '/alerts/{id}', 'Show an alert'),
  request: { params },
  responses: { 200: answers(alertSchema, 'The alert') },
});
const patch = defineRoute({
  ...at('patch', '/alerts/{id}', 'Change an alert'),
  request: { params, body: takes(alertChangesSchema) },
  responses: { 200: answers(alertSchema, 'The alert as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/alerts/{id}', 'Delete an alert'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});
const firings = defineRoute({
  ...at('get', '/alerts/{id}/firings', "List the alert's firings of 90 days, newest first"),
  request: { params, query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(firingSchema), 'Firings') },
});
const test = defineRoute({
  ...at('post', '/alerts/{id}/test', 'Send a test message to the webhook'),
  request: { params },
  responses: { 201: answers(z.object({ ok: z.boolean() }), 'The webhook answered with 2xx') },
});

type Needs = Pick<AdminServices, 'db' | 'postWebhook' | 'clock' | 'checkUrl' | 'config'>;

export function alertRoutes(services: Needs, answer: AnswerKept) {
  const { db, postWebhook, clock } = services;
  const changes = new AuditedChanges(db, { resource: 'alert', idOf: (alert) => alert.id, show: showAlert });
  return createRouter()
    .openapi(preview, async (c) => {
      const query = toReplay(c.req.valid('query'), clock.nowMs());
      if (typeof query.projectId === 'string') await requireProject(db, query.projectId);
      return answer(c, { kind: 'alert_preview', query });
    })
    .openapi(create, async (c) => {
      const { projectId = null, mutedUntil, ...body } = readFields(c.req.valid('json'));
      await refuseWebhook(services, body.webhookUrl);
      const alert = await changes.create(c.get('actor'), async (tx) => {
        if (projectId !== null) await requireProject(tx, projectId);
        return alertRows.create(tx, { ...body, projectId, mutedUntilMs: mutedUntil });
      });
      return c.json(showAlert(alert), 201);
    })
    .openapi(list, async (c) => {
      const { project_id: projectId, ...asked } = c.req.valid('query');
      const found = await alertRows.list(db, asked, { projectId });
      const firings = await listFiringNow(db, found.data);
      const page = showPage(found, (alert) => showListedAlert(alert, firings.get(alert.id)));
      return c.json(page, 200);
    })
    .openapi(show, async (c) => {
      const alert = showAlert(required(await alertRows.get(db, c.req.valid('param')), 'alert'));
      return c.json(alert, 200);
    })
    .openapi(patch, async (c) => {
      const at = c.req.valid('param');
      const { mutedUntil, ...body } = readFields(c.req.valid('json'));
      await refuseWebhook(services, body.webhookUrl);
      const find = async (tx: Db) => {
        if (body.projectId != null) await requireProject(tx, body.projectId);
        return alertRows.get(tx, at);
      };
      const write = (tx: Db) => changeAlert(tx, at.id, { ...body, mutedUntilMs: mutedUntil }, clock.nowMs());
      const alert = await changes.update(c.get('actor'), find, write);
      return c.json(showAlert(alert), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), (tx) => deleteAlert(tx, c.req.valid('param').id, clock.nowMs()));
      return c.body(null, 204);
    })
    .openapi(firings, async (c) => {
      const { id: alertId } = required(await alertRows.get(db, c.req.valid('param')), 'alert');
      return c.json(showPage(await firingRows.list(db, c.req.valid('query'), { alertId }), showFiring), 200);
    })
    .openapi(test, async (c) => {
      const alert = required(await alertRows.get(db, c.req.valid('param')), 'alert');
      try {
        await postWebhook(alert.webhookUrl, testBody(alert, clock.nowMs()));
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new GatewayError('invalid_request', `The webhook could not be called: ${reason}`, { cause });
      }
      return c.json({ ok: true }, 201);
    });
}

/** The week up to the last whole minute. Throws for kinds that cannot be replayed. */
function toReplay(given: z.output<typeof previewQuery>, nowMs: number): ReplayQuery {
  const { kind, window_minutes: windowMinutes, project_id: projectId, objective } = given;
  const { threshold = ALERT_KIND_FACTS[kind].defaultThreshold } = given;
  if (!ALERT_KIND_FACTS[kind].isReplayed) {
    throw invalidRequest('kind', `Alerts of the kind ${kind} can't be replayed.`);
  }
  const toMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const rule = { kind, threshold, windowMinutes, projectId, objective };
  return { ...rule, fromMs: toMs - WEEK_MS, toMs, nowMs: toMs };
}

/** Throws for a forbidden webhook URL. An unresolvable name is allowed; it may exist later. */
async function refuseWebhook({ checkUrl, config }: Pick<Needs, 'checkUrl' | 'config'>, url?: string): Promise<void> {
  if (url === undefined) return;
  if (isMailto(url)) {
    if (config.mail !== undefined) return;
    throw invalidRequest('webhook_url', 'The gateway can send no mail: SMTP_URL is not set.');
  }
  try {
    await checkUrl(url);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (!isUnresolved(error.cause)) throw invalidRequest('webhook_url', `webhook_${error.message}`, error);
  }
}

async function changeAlert(
  tx: Db,
  id: string,
  body: Parameters<typeof alertRows.update>[2],
  nowMs: number,
): Promise<StoredAlert | null> {
  // What was measured under other conditions.
  const isOther = [body.kind, body.windowMinutes, body.objective, body.projectId].some((one) => one !== undefined);
  const forgotten = isOther || body.isActive === true ? { checkedAtMs: null } : {};
  const changed = await alertRows.update(tx, { id }, { ...body, ...forgotten });
  if (changed?.webhookFormat === 'pagerduty' && changed.routingKey === null) {
    throw invalidRequest('routing_key', 'routing_key is needed with webhook_format pagerduty.');
  }
  const isRuleGiven = [body.kind, body.threshold, body.objective].some((one) => one !== undefined);
  const problem = changed !== null && isRuleGiven ? thresholdProblem(changed) : null;
  if (problem !== null) throw invalidRequest('threshold', `threshold: ${problem}.`);
  // An inactive alert ends its firing.
  if (changed?.isActive !== false) return changed;
  await endFiring(tx, id, nowMs);
  return { ...changed, isMet: false };
}

const testBody = (alert: StoredAlert, atMs: number): object =>
  webhookBody(
    { event: 'alert_test', text: `Test of the alert ${alert.name}`, value: null, atMs, alert },
    { format: alert.webhookFormat, routingKey: alert.routingKey },
  );
