import { z } from '@hono/zod-openapi';
import { thresholdProblem } from '@llm0/core/alerts/check-threshold';
import { ALERT_KIND_FACTS, ALERT_KINDS, WEBHOOK_FORMATS } from '@llm0/core/alerts/kinds';
import type { FiringNow, StoredAlert, StoredFiring } from '@llm0/drizzle/queries/alerts';
import { isMailto } from '../../observe/send-mail';
import { count, id, instant, instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { showInstantOrNull } from '../fields/show-fields';

export const MAX_WINDOW_MINUTES = 7 * 24 * 60;

const ADDRESS = '[^\\s@?,]+@[^\\s@?,]+';
const MAILTO = new RegExp(`^mailto:${ADDRESS}(,${ADDRESS})*$`);

const webhookUrl = z
  .url({ protocol: /^(https?|mailto)$/, error: 'must be an http(s) URL, or mailto: with addresses' })
  .max(2000)
  .refine((url) => !isMailto(url) || MAILTO.test(url), 'must be mailto: with addresses such as ann@example.com')
  .openapi({
    description:
      'Gets JSON in the shape of `webhook_format`, or mail (`mailto:ann@example.com`, with SMTP_URL); never a private address unless EGRESS_ALLOW names it. PagerDuty: `https://events.pagerduty.com/v2/enqueue`',
  });

export const alertFields = {
  name: text(),
  kind: z.enum(ALERT_KINDS),
  threshold: z
    .number()
    .min(0)
    .max(1e9)
    .openapi({
      description:
        "Above 0. A share (to 1) for budget_share, error_rate and cache_ratio_fall, milliseconds of providers' answers for latency_p95 " +
        '(without cache hits and failures), USD for spend, minutes for provider_down and log_queue, usual deviations for spend_anomaly, how many times too fast for error_budget_burn',
    }),
  window_minutes: count(1, MAX_WINDOW_MINUTES),
  objective: z.number().min(0).max(0.999999).nullable().openapi({
    description: 'error_budget_burn: target share of successful requests; null = 0.99',
  }),
  project_id: id.nullable(),
  webhook_url: webhookUrl,
  webhook_format: z.enum(WEBHOOK_FORMATS).openapi({ description: '`json` has event, text, value and alert' }),
  is_active: z.boolean(),
};

/** Write-only. */
const routingKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{8,128}$/, 'must be the integration key of a service')
  .nullable()
  .openapi({ description: "PagerDuty's integration key", writeOnly: true });
const mutedUntil = instant.nullable().openapi({
  type: ['string', 'null'],
  description: 'No messages about firing until then. Recovery is sent if the start was sent',
});

const USUAL = ALERT_KINDS.map((kind) => `${kind} ${ALERT_KIND_FACTS[kind].defaultThreshold}`).join(', ');

/** PagerDuty identifies the receiver by the key alone. */
const NEEDS_KEY = 'is needed with webhook_format pagerduty';

export const newAlertSchema = z
  .strictObject({
    ...alertFields,
    threshold: alertFields.threshold.optional().openapi({ description: `Default of the kind: ${USUAL}` }),
    window_minutes: alertFields.window_minutes.default(15),
    objective: alertFields.objective.optional(),
    project_id: id.nullish(),
    webhook_format: alertFields.webhook_format.default('json'),
    is_active: alertFields.is_active.default(true),
    routing_key: routingKey.optional(),
    muted_until: mutedUntil.optional(),
  })
  .refine((alert) => alert.webhook_format !== 'pagerduty' || alert.routing_key != null, {
    path: ['routing_key'],
    error: NEEDS_KEY,
  })
  .transform((alert) => ({ ...alert, threshold: alert.threshold ?? ALERT_KIND_FACTS[alert.kind].defaultThreshold }))
  .superRefine((alert, context) => {
    const message = thresholdProblem(alert);
    if (message !== null) context.addIssue({ code: 'custom', path: ['threshold'], message });
  })
  .openapi('NewAlert');
export const alertChangesSchema = z
  .strictObject({ ...alertFields, routing_key: routingKey, muted_until: mutedUntil })
  .partial()
  .openapi('AlertChanges');

export const alertSchema = z
  .object({
    ...alertFields,
    id,
    name: z.string(),
    webhook_url: z.string().openapi({ description: 'Viewers see only scheme and host' }),
    has_routing_key: z.boolean(),
    muted_until: instantShown.nullable(),
    is_firing: z.boolean().openapi({ description: 'The last check met the condition, muted or not' }),
    was_told: z.boolean().openapi({ description: 'The last webhook message said that the alert fires' }),
    changed_at: instantShown.nullable().openapi({ description: 'Last change of the state; null = not checked yet' }),
    last_error: z.string().nullable().openapi({ description: 'Error of the webhook' }),
    created_at: instantShown,
  })
  .openapi('Alert');

export const showAlert = (alert: StoredAlert): z.output<typeof alertSchema> =>
  showFields(alertSchema, {
    ...alert,
    ...{ isFiring: alert.isMet, wasTold: alert.isFiring },
    mutedUntil: showInstantOrNull(alert.mutedUntilMs),
    hasRoutingKey: alert.routingKey !== null,
  });

export const firingSchema = z
  .object({
    id,
    created_at: instantShown.openapi({ description: 'Time at which the condition was first met' }),
    ended_at: instantShown.nullable().openapi({ description: 'null: still firing' }),
    value: z.number().nullable().openapi({ description: 'Measured value, in the unit of the threshold' }),
    highest: z.number().nullable().openapi({ description: 'Highest value since' }),
    text: z.string(),
    told_at: instantShown.nullable().openapi({ description: 'null: muted, or the webhook failed' }),
  })
  .openapi('AlertFiring');

export const showFiring = (firing: StoredFiring): z.output<typeof firingSchema> => showFields(firingSchema, firing);

/** Of lists. Alone, an alert has only what its entity tag stands for. */
export const listedAlertSchema = alertSchema
  .extend({
    firing: firingSchema.nullable().openapi({ description: 'The firing that is open' }),
    told_at: instantShown.nullable().openapi({ description: 'Last message of 90 days that it fires' }),
    last_check: z
      .object({
        at: instantShown,
        value: z
          .number()
          .nullable()
          .openapi({ description: 'In the unit of the threshold; null = nothing to measure' }),
        text: z.string().nullable(),
      })
      .nullable()
      .openapi({ description: 'What the last check measured, firing or not' }),
  })
  .openapi('ListedAlert');

export const showListedAlert = (
  alert: StoredAlert,
  { open = null, toldAtMs = null }: Partial<FiringNow> = {},
): z.output<typeof listedAlertSchema> => ({
  ...showAlert(alert),
  firing: open === null ? null : showFiring(open),
  told_at: showInstantOrNull(toldAtMs),
  last_check: showCheck(alert),
});

function showCheck({ checkedAtMs, checkedValue: value, checkedText: text }: StoredAlert) {
  const at = showInstantOrNull(checkedAtMs);
  return at === null ? null : { at, value, text };
}
