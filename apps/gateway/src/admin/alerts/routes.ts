import { createRoute, z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { alertRows, type StoredAlert } from '@llm0/drizzle/queries/alerts';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { count, id, instantShown, pageOf, pageQuery, queryNumber, showPage, text } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { readFields, showFields } from '../fields/map-fields';
import { maskFor } from '../fields/mask-webhooks';
import type { AnswerKept } from '../stats/keep-answers';
import { alertPreviewSchema } from './preview-schema';

const at = routesOf('alerts');
const MINUTE_MS = 60_000;
const MAX_WINDOW_MINUTES = 7 * 24 * 60;
const KINDS = ['budget_share', 'error_rate', 'latency_p95', 'spend', 'job_failed', 'guardrail_hits'] as const;

const webhookUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
  .max(2000)
  .openapi({
    description: 'Gets JSON with event, text and value; never a private address unless EGRESS_ALLOW names it',
  });
const fields = {
  name: text(),
  kind: z.enum(KINDS),
  threshold: z.number().min(0).max(1e9).openapi({
    description: 'A share (0 to 1) for budget_share and error_rate, milliseconds for latency_p95, USD for spend',
  }),
  window_minutes: count(1, MAX_WINDOW_MINUTES),
  project_id: id.nullable(),
  webhook_url: webhookUrl,
  is_active: z.boolean(),
};

const newAlertSchema = z
  .strictObject({
    ...fields,
    threshold: fields.threshold.default(1),
    window_minutes: fields.window_minutes.default(15),
    project_id: id.nullish(),
    is_active: fields.is_active.default(true),
  })
  .openapi('NewAlert');
const alertChangesSchema = z.strictObject(fields).partial().openapi('AlertChanges');
const alertSchema = z
  .object({
    ...fields,
    id,
    name: z.string(),
    webhook_url: z.string().openapi({ description: 'Viewers see scheme and host alone' }),
    is_firing: z.boolean(),
    changed_at: instantShown.nullable(),
    last_error: z.string().nullable().openapi({ description: 'Why the webhook could not be told' }),
    created_at: instantShown,
  })
  .openapi('Alert');

const WEEK_MS = MAX_WINDOW_MINUTES * MINUTE_MS;
const preview = createRoute({
  ...at(
    'get',
    '/alert-preview',
    'When an alert would have fired over the last week: its condition replayed minute by minute',
  ),
  request: {
    query: z.strictObject({
      kind: fields.kind,
      threshold: queryNumber().pipe(fields.threshold).default(1),
      window_minutes: queryNumber().pipe(fields.window_minutes).default(15),
      project_id: id.optional(),
    }),
  },
  responses: {
    200: answers(alertPreviewSchema, 'When, and the most that was measured; with the budgets in force now'),
  },
});
const params = z.object({ id });
const create = createRoute({
  ...at('post', '/alerts', 'Have a webhook called when something passes a threshold, and again when it is over'),
  request: { body: takes(newAlertSchema) },
  responses: { 201: answers(alertSchema, 'The new alert') },
});
const list = createRoute({
  ...at('get', '/alerts', 'List alerts, newest first'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(alertSchema), 'Alerts') },
});
const show = createRoute({
  ...at('get', '/alerts/{id}', 'Show an alert'),
  request: { params },
  responses: { 200: answers(alertSchema, 'The alert') },
});
const patch = createRoute({
  ...at('patch', '/alerts/{id}', 'Change an alert'),
  request: { params, body: takes(alertChangesSchema) },
  responses: { 200: answers(alertSchema, 'The alert as it is now') },
});
const remove = createRoute({
  ...at('delete', '/alerts/{id}', 'Delete an alert'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});
const test = createRoute({
  ...at('post', '/alerts/{id}/test', 'Call the webhook once, as a test'),
  request: { params },
  responses: { 201: answers(z.object({ ok: z.boolean() }), 'The webhook answered with 2xx') },
});

type Needs = Pick<AdminServices, 'db' | 'postWebhook' | 'clock'>;

export function alertRoutes({ db, postWebhook, clock }: Needs, answer: AnswerKept) {
  const changes = new AuditedChanges(db, { resource: 'alert', idOf: (alert) => alert.id, show: showAlert });
  return createRouter()
    .openapi(preview, async (c) => {
      const { kind, threshold, window_minutes: windowMinutes, project_id: projectId } = c.req.valid('query');
      if (projectId !== undefined) await requireProject(db, projectId);
      const toMs = Math.floor(clock.nowMs() / MINUTE_MS) * MINUTE_MS;
      const rule = { kind, threshold, windowMinutes, projectId };
      const query = { ...rule, fromMs: toMs - WEEK_MS, toMs, nowMs: toMs };
      return answer(c, { kind: 'alert_preview', query }, alertPreviewSchema);
    })
    .openapi(create, async (c) => {
      const { projectId = null, ...body } = readFields(c.req.valid('json'));
      const alert = await changes.create(c.get('actor'), async (tx) => {
        if (projectId !== null) await requireProject(tx, projectId);
        return alertRows.create(tx, { ...body, projectId });
      });
      return c.json(showAlert(alert), 201);
    })
    .openapi(list, async (c) => {
      const page = showPage(await alertRows.list(db, c.req.valid('query')), showAlert);
      return c.json(maskFor(c.get('actor'), page), 200);
    })
    .openapi(show, async (c) => {
      const alert = showAlert(required(await alertRows.get(db, c.req.valid('param')), 'alert'));
      return c.json(maskFor(c.get('actor'), alert), 200);
    })
    .openapi(patch, async (c) => {
      const at = c.req.valid('param');
      const body = readFields(c.req.valid('json'));
      const find = async (tx: Db) => {
        if (body.projectId != null) await requireProject(tx, body.projectId);
        return alertRows.get(tx, at);
      };
      const alert = await changes.update(c.get('actor'), find, (tx) => alertRows.update(tx, at, body));
      return c.json(showAlert(alert), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), (tx) => alertRows.delete(tx, c.req.valid('param')));
      return c.body(null, 204);
    })
    .openapi(test, async (c) => {
      const { name, webhookUrl: url } = required(await alertRows.get(db, c.req.valid('param')), 'alert');
      try {
        await postWebhook(url, { event: 'alert_test', text: `Test of the alert ${name}`, value: null });
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new GatewayError('invalid_request', `The webhook could not be called: ${reason}`, { cause });
      }
      return c.json({ ok: true }, 201);
    });
}

const showAlert = (alert: StoredAlert) => showFields(alertSchema, alert);
