import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { isTimeZone, MONTH, monthOf, monthRange } from '@llm0/core/finance/calendar';
import { MODALITIES } from '@llm0/core/logs/log-record';
import { costCenter, id, instantShown, projectIds, text, usdShown } from '../fields/fields';
import { FACT_GROUPS, type FactGroup, type Within } from './facts';
import type { MonthQuestion } from './load-months';

const MODALITIES_SPENT = [...MODALITIES, 'tool'] as const;
const GROUPS: readonly string[] = [...FACT_GROUPS, 'customer'];
const LABEL = /^label\.[a-z0-9][a-z0-9._-]{0,62}$/;

const by = z
  .string()
  .refine((value) => GROUPS.includes(value) || LABEL.test(value), `must be ${GROUPS.join(', ')} or label.<name>`)
  .default('project')
  .openapi({ description: `${GROUPS.join(', ')} or label.<name>` });

export const month = z.string().regex(MONTH, 'must be a month such as 2026-10');
export const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be a time zone such as Europe/Berlin')
  .default('UTC')
  .openapi({ description: 'Time zone of months and days' });

export const statementQuerySchema = z
  .object({
    month: month
      .optional()
      .openapi({ description: 'YYYY-MM, a calendar month of the zone; default: the current month' }),
    time_zone: timeZone,
    by,
    organization_id: id.optional().openapi({ description: 'Only projects of its teams, as they are now' }),
    team_id: id.optional(),
    cost_center: costCenter.optional(),
    project_id: projectIds,
    api_key_id: id.optional(),
    model: text(512).optional().openapi({ description: 'Model that answered' }),
    provider: text().optional(),
    modality: z.enum(MODALITIES_SPENT).optional(),
    customer_id: text(256).optional(),
  })
  .catchall(z.string().max(256))
  .openapi({ description: 'label.<name>=value narrows by a label' });

/** What the roll-ups know: neither customers nor labels. */
export const focusQuerySchema = z.strictObject(statementQuerySchema.omit({ by: true, customer_id: true }).shape);

export type StatementQuery = z.output<typeof statementQuerySchema>;

const KNOWN: ReadonlySet<string> = new Set(Object.keys(statementQuerySchema.shape));

/** What a person may see. */
export interface Visible {
  /** Ids of teams and organizations. */
  readonly places: readonly string[];
  /** Projects that are in them now. */
  readonly projects: readonly string[];
}

/** A month's question; levels are groups of projects. */
export interface StatementQuestion extends Omit<MonthQuestion, 'by'> {
  readonly by: MonthQuestion['by'] | FactGroup;
  readonly within: Within;
  /** null = everything. */
  readonly visible: Visible | null;
}

/** Builds the question; throws `invalid_request`. */
export function toQuestion(
  query: StatementQuery,
  at: Pick<StatementQuestion, 'nowMs' | 'logRetentionDays' | 'visible'>,
): StatementQuestion {
  const { month = monthOf(query.time_zone, at.nowMs), time_zone: timeZone } = query;
  if (monthRange(timeZone, month).fromMs > at.nowMs) {
    throw new GatewayError('invalid_request', `${month} has not begun.`, { param: 'month' });
  }
  const labels: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (KNOWN.has(name)) continue;
    if (!LABEL.test(name))
      throw new GatewayError('invalid_request', `There is no field ${name.slice(0, 100)} here.`, {
        param: name.slice(0, 100),
      });
    labels[name.slice('label.'.length)] = String(value);
  }
  const { project_id: projectId, api_key_id: apiKeyId, model, provider, modality, customer_id: customerId } = query;
  const { team_id: teamId, organization_id: organizationId, cost_center: costCenter } = query;
  const within = {
    ...{ ...(teamId && { teamId }), ...(organizationId && { organizationId }), ...(costCenter && { costCenter }) },
  };
  const filter = { projectId, apiKeyId, model, provider, modality, customerId };
  return {
    ...{ ...at, month, timeZone, within, by: query.by as StatementQuestion['by'] },
    filter: Object.keys(labels).length === 0 ? filter : { ...filter, labels },
  };
}

/** Filters of a statement, as in the query. */
export function shownFilters({ filter, within }: Pick<StatementQuestion, 'filter' | 'within'>): Record<string, string> {
  const { projectId, apiKeyId, model, provider, modality, customerId, labels = {} } = filter;
  const all = {
    organization_id: within.organizationId,
    team_id: within.teamId,
    cost_center: within.costCenter,
    project_id: projectId && [projectId].flat().join(' '),
    api_key_id: apiKeyId,
    model,
    provider,
    modality,
    customer_id: customerId,
  };
  const named = Object.entries(labels).map(([name, value]) => [`label.${name}`, value]);
  return Object.fromEntries([...Object.entries(all).filter(([, value]) => value !== undefined), ...named]);
}

const forecastFields = {
  expected_usd: usdShown,
  low_usd: usdShown
    .nullable()
    .openapi({ description: 'Low end of the forecast: nine of ten months cost more; null with too little data' }),
  high_usd: usdShown.nullable(),
};
const forecastSchema = z.object(forecastFields).openapi('Forecast', { description: 'Whole month' });

const sums = {
  requests: z.int(),
  cost_usd: usdShown,
  estimated_usd: usdShown.nullable().openapi({ description: 'Estimated part of the cost; null = no longer known' }),
  previous_usd: usdShown
    .nullable()
    .openapi({ description: 'Previous month; null = no longer known, or not all of that time has data' }),
  change_usd: usdShown.nullable(),
  change_percent: z.number().nullable().openapi({ description: 'In percent, to a tenth; null without earlier spend' }),
  is_new: z.boolean().openapi({ description: 'No cost in the previous month' }),
  saved_usd: usdShown.openapi({ description: "Cost that the gateway's caches saved" }),
  saved_exact_usd: usdShown.nullable().openapi({ description: 'Saved by the exact cache; null = unknown by customer' }),
  saved_semantic_usd: usdShown.nullable(),
  saved_vendor_usd: usdShown
    .nullable()
    .openapi({ description: "Saved by providers' prompt caches, at current prices" }),
  forecast: forecastSchema.nullable(),
  cap_usd: usdShown.nullable().openapi({ description: 'Per UTC month' }),
  corrections_usd: usdShown.openapi({ description: 'Corrections of closed months, part of the cost' }),
};

/** Outlook of a cap. */
export const capFields = {
  forecast: forecastSchema.nullable(),
  reached_on: z.string().nullable().openapi({ description: 'UTC day on which the budget runs out; null = never' }),
  could_reach_on: z.string().nullable().openapi({ description: 'High end of the forecast' }),
};

const capSchema = z
  .object({
    scope: z.enum(['project', 'key', 'customer']),
    project_id: id,
    project_name: z.string(),
    id: z.string(),
    name: z.string(),
    cap_usd: usdShown,
    spent_usd: usdShown,
    ...capFields,
  })
  .openapi('CapForecast');

export const statementSchema = z
  .object({
    month: z.string(),
    time_zone: z.string(),
    currency: z.literal('USD'),
    from: instantShown,
    to: instantShown.openapi({ description: 'Exclusive' }),
    is_final: z.boolean().openapi({ description: 'The month has ended' }),
    closed_at: instantShown
      .nullable()
      .openapi({ description: 'Set once the month is closed: figures no longer change' }),
    closed_by: z.string().nullable(),
    compared_with: z.object({
      ...{ month: z.string(), from: instantShown, to: instantShown },
      data_from: instantShown.nullable().openapi({
        description:
          'UTC day of the first request, if this time has no data or only in part: then nothing is compared; else null',
      }),
    }),
    by: z.string(),
    filters: z.record(z.string(), z.string()),
    attribution: z
      .enum(['request', 'current'])
      .nullable()
      .openapi({ description: 'Labels at the time of the request, or current labels' }),
    generated_at: instantShown,
    gateway_version: z.string(),
    notes: z.array(z.string()),
    rows: z.array(z.object({ group: z.string().openapi({ description: "'' for none" }), name: z.string(), ...sums })),
    total: z.object(sums),
    forecast_days: z
      .array(z.object({ date: z.string(), ...forecastFields }))
      .openapi({ description: 'Spend at the end of each remaining day, since the start of the month' }),
    caps: z.array(capSchema).openapi({ description: 'Budgets of UTC months, the tightest first' }),
  })
  .openapi('Statement');

export type ShownStatement = z.output<typeof statementSchema>;
