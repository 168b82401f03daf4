import { createRoute, z } from '@hono/zod-openapi';
import { answers, createRouter } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { instantShown } from '../fields/fields';
import { createStatusReader } from './read-status';

const providerSchema = z.object({
  provider: z.string(),
  models: z.array(z.string()),
  since: instantShown.openapi({
    description: 'When it first failed after it last answered, as the log knows; at the latest when its breaker opened',
  }),
  answered_elsewhere: z
    .int()
    .nullable()
    .openapi({ description: 'Requests that another provider answered since; null when they could not be counted' }),
});
const statusSchema = z
  .object({
    hot_store: z.object({ kind: z.enum(['redis', 'embedded']), ok: z.boolean() }),
    open: z.array(providerSchema).openapi({ description: 'Providers with a breaker that is not closed' }),
  })
  .openapi('Status');

const show = createRoute({
  method: 'get',
  path: '/status',
  tags: ['history'],
  summary: 'What is in trouble right now: open breakers, and the hot store when it is away',
  responses: { 200: answers(statusSchema, 'Nothing is in trouble where `open` is empty and the store is ok') },
});

type Needs = Pick<AdminServices, 'db' | 'clock' | 'hotStore' | 'health'>;

export function statusRoutes(services: Needs) {
  const readStatus = createStatusReader(services);
  return createRouter().openapi(show, async (c) => c.json(await readStatus(), 200));
}
