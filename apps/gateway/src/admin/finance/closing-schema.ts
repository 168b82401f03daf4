import { z } from '@hono/zod-openapi';
import type { StoredClosing } from '@llm0/drizzle/queries/finance/closings';
import { id, instantShown, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { month, timeZone } from './schema';

export const newClosingSchema = z
  .strictObject({
    month,
    time_zone: timeZone,
    organization_id: id.optional().openapi({ description: 'Only projects of its teams' }),
    team_id: id.optional().openapi({ description: 'Only projects of the team; without both, all projects' }),
  })
  .refine((body) => body.organization_id === undefined || body.team_id === undefined, {
    message: 'must not be beside organization_id',
    path: ['team_id'],
  })
  .openapi('NewClosing');

export const closingSchema = z
  .object({
    id,
    month: z.string(),
    time_zone: z.string(),
    organization_id: id.nullable().openapi({ description: 'null = everything' }),
    team_id: id.nullable().openapi({ description: 'null = the whole organization' }),
    projects: z.int().openapi({ description: 'Projects that it closed; those closed before are not among them' }),
    cost_usd: usdShown.openapi({ description: 'Corrections included' }),
    corrections_usd: usdShown.openapi({ description: 'Of closed months before' }),
    gateway_version: z.string(),
    closed_by: z.string(),
    created_at: instantShown,
  })
  .openapi('Closing');

export const showClosing = (closing: StoredClosing) => showFields(closingSchema, closing);
