import { z } from '@hono/zod-openapi';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { instantShown } from '../fields/fields';
import { createStatusReader } from './read-status';

const providerSchema = z.object({
  provider: z.string(),
  models: z.array(z.string()),
  since: instantShown.openapi({
    description: 'First failure after the last success, from the log; at the latest when the breaker opened',
  }),
  retry_at: instantShown.openapi({
    description: 'When the gateway asks one of the models again; in the past: with the next request',
  }),
  answered_elsewhere: z
    .int()
    .nullable()
    .openapi({ description: 'Requests that another provider answered since then; null if the count failed' }),
  is_drained: z.boolean().openapi({ description: 'The operator drained it: no retry' }),
});
const statusSchema = z
  .object({
    hot_store: z.object({ kind: z.enum(['redis', 'embedded']), ok: z.boolean() }),
    log_database: z
      .object({ ok: z.boolean(), since: instantShown.nullable() })
      .optional()
      .openapi({ description: 'ClickHouse of the log, where one is set; while it is away, Postgres answers' }),
    open: z.array(providerSchema).openapi({ description: 'Providers with an open breaker' }),
  })
  .openapi('Status');

const show = defineRoute({
  method: 'get',
  path: '/status',
  tags: ['history'],
  summary: 'Show current problems: open breakers, and a missing hot store',
  responses: { 200: answers(statusSchema, 'Nothing is in trouble where `open` is empty and the store is ok') },
});

type Needs = Pick<AdminServices, 'db' | 'clock' | 'hotStore' | 'health' | 'routing'>;

export function statusRoutes(services: Needs) {
  const readStatus = createStatusReader(services);
  return createRouter().openapi(show, async (c) => c.json(await readStatus(), 200));
}
