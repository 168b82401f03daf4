import { z } from '@hono/zod-openapi';
import type { FailoverGroup } from '@llm0/drizzle/queries/logs/failovers';
import { instantShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';

/** From where to where, and why. */
export const switchFields = {
  original_provider: z.string(),
  original_model: z.string(),
  fallback_provider: z.string(),
  fallback_model: z.string(),
  trigger_reason: z.string(),
  trigger_status_code: z.int().nullable(),
};

const groupSchema = z.object({
  ...switchFields,
  fallback_succeeded: z.boolean(),
  times: z.int(),
  first_at: instantShown,
  last_at: instantShown,
  lost_ms: z.number().nullable().openapi({ description: 'Median time of the failed attempts; null where skipped' }),
});

export const groupedFailoversSchema = z.object({ groups: z.array(groupSchema) }).openapi('FailoverGroups');

export const showGroupedFailovers = (groups: readonly FailoverGroup[]) => ({
  groups: groups.map((group) => showFields(groupSchema, group)),
});
