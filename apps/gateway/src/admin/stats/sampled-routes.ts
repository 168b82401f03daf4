import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { DIFFERENCE_FIELDS, type DifferenceQuery } from '@llm0/drizzle/queries/stats/read/differences';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { queryInstant, queryNumber } from '../fields/fields';
import type { AnswerKept } from './keep-answers';
import { metricField, overviewQuerySchema, toStatsQuery } from './schema';

const tags = ['stats'];
const rangeSchema = overviewQuerySchema.pick({ from: true, to: true, project_id: true });
const SAMPLED =
  'Reads rows of the log: all of up to 20,000, otherwise about as many, from windows that are spread evenly over the time. ' +
  '`sampled` says so. An answer that took long is kept for 20 s (`Age`).';
const isSampled = z.boolean().openapi({ description: 'Not all rows were read' });

const share = z.number().nullable().openapi({ description: 'Share (0 to 1) of requests; null without requests' });
const differencesSchema = z
  .object({
    inside_requests: z.int().openapi({ description: 'Rows of the region that were read' }),
    outside_requests: z.int().openapi({ description: 'Other rows of the range that were read' }),
    sampled: isSampled,
    data: z.array(
      z.object({
        field: z.enum(DIFFERENCE_FIELDS),
        value: z.string().openapi({ description: '`size`: tokens in and out, from this power of ten to the next' }),
        inside_share: share,
        outside_share: share,
      }),
    ),
  })
  .openapi('Differences');

const differencesQuerySchema = rangeSchema.extend({
  metric: metricField.default('latency'),
  region_from: queryInstant,
  region_to: queryInstant.openapi({ description: 'Exclusive' }),
  min_ms: queryNumber().openapi({ description: 'Least duration of the region' }),
  max_ms: queryNumber().openapi({ description: 'Longest duration of the region' }),
});

const differences = defineRoute({
  method: 'get',
  path: '/stats/differences',
  tags,
  summary: 'Differences between the requests of a region (time and duration) and all others of the range',
  description: `The eight values of a field whose shares differ most. ${SAMPLED}`,
  request: { query: differencesQuerySchema },
  responses: { 200: answers(differencesSchema, 'Values by the difference of their shares, largest first') },
});

const flowsSchema = z
  .object({
    requests: z.int().openapi({ description: 'Over all ways, also those beyond the first 300' }),
    sampled: isSampled,
    data: z.array(
      z.object({
        project_id: z.string(),
        requested_model: z.string().openapi({ description: 'Alias or model, as requested' }),
        provider: z.string().openapi({ description: "Last provider asked; '' for none" }),
        cached: z.boolean().openapi({ description: 'Answered by a cache' }),
        requests: z.int().openapi({ description: 'Estimated if `sampled`' }),
        success: z.int(),
        failed: z.int().openapi({ description: 'Failures that the caller could not avoid' }),
      }),
    ),
  })
  .openapi('Flows');

const flows = defineRoute({
  method: 'get',
  path: '/stats/flows',
  tags,
  summary: 'Requests by project, requested model and provider',
  description: SAMPLED,
  request: { query: rangeSchema },
  responses: { 200: answers(flowsSchema, 'Ways of requests, busiest first') },
});

/** Statistics for which no roll-up has the fields. */
export function sampledRoutes({ clock }: Pick<AdminServices, 'clock'>, answer: AnswerKept) {
  return createRouter()
    .openapi(differences, (c) => {
      const query = toDifferenceQuery(c.req.valid('query'), clock.nowMs());
      return answer(c, { kind: 'differences', query });
    })
    .openapi(flows, (c) => {
      const { fromMs, toMs, nowMs, projectId } = toStatsQuery(c.req.valid('query'), clock.nowMs());
      return answer(c, { kind: 'flows', query: { fromMs, toMs, nowMs, projectId } });
    });
}

function toDifferenceQuery(asked: z.output<typeof differencesQuerySchema>, askedAtMs: number): DifferenceQuery {
  const { metric, region_from: regionFromMs, region_to: regionToMs, min_ms: minMs, max_ms: maxMs, ...range } = asked;
  if (regionFromMs >= regionToMs) {
    throw new GatewayError('invalid_request', 'region_from must be earlier than region_to.', { param: 'region_from' });
  }
  if (minMs > maxMs) {
    throw new GatewayError('invalid_request', 'min_ms must not be more than max_ms.', { param: 'min_ms' });
  }
  const { fromMs, toMs, nowMs, projectId } = toStatsQuery(range, askedAtMs);
  return {
    ...{ fromMs, toMs, nowMs, projectId, metric },
    region: { fromMs: regionFromMs, toMs: regionToMs, minMs, maxMs },
  };
}
