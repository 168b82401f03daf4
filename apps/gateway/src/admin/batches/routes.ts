import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { addAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { findAnyBatch, pageOfBatches } from '@llm0/drizzle/queries/batches/batches';
import { findFile } from '@llm0/drizzle/queries/batches/files';
import { cancelBatch } from '../../batches/change-batch';
import { PREFIXES, readId } from '../../files/own-ids';
import { answers, createRouter, defineRoute, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { pageOf, pageQuery, projectIds, showPage } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { BATCH_STATUSES, batchSchema, showBatchRow } from './schema';

const at = routesOf('batches');
const params = z.object({ id: z.string().max(100).openapi({ description: 'UUID, or the id that callers know' }) });
const query = z.strictObject({ project_id: projectIds });

const list = defineRoute({
  ...at('get', '/batches', 'List batches of requests, newest first'),
  request: {
    query: z.strictObject({ project_id: projectIds, status: z.enum(BATCH_STATUSES).optional(), ...pageQuery }),
  },
  responses: { 200: answers(pageOf(batchSchema), 'Batches') },
});
const show = defineRoute({
  ...at('get', '/batches/{id}', 'Show a batch with its progress and its cost so far'),
  request: { params, query },
  responses: { 200: answers(batchSchema, 'The batch') },
});
const cancel = defineRoute({
  ...at('post', '/batches/{id}/cancel', 'Cancel a batch: lines under way end, all others are given up'),
  request: { params, query },
  responses: { 200: answers(batchSchema, 'The batch as it is now') },
});

const download = defineRoute({
  ...at(
    'get',
    '/batches/{id}/files/{file}',
    'Download the answers or the errors of a batch: one line for each of its lines',
  ),
  request: { params: params.extend({ file: z.enum(['output', 'error']) }), query },
  responses: {
    200: {
      description: 'JSON lines',
      content: {
        'text/plain': { schema: z.string() },
      },
    },
  },
});

type Needs = Pick<AdminServices, 'db' | 'files' | 'batches' | 'hotStore' | 'log' | 'clock'>;
type Asked = { readonly id: string; readonly projectId: Parameters<typeof findAnyBatch>[2] };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const idOf = (shown: string) =>
  UUID.test(shown) ? shown : (readId(PREFIXES.batch, shown) ?? readId(PREFIXES.messageBatch, shown));

export function batchRoutes(services: Needs) {
  const { db } = services;
  const find = async ({ id: shown, projectId }: Asked) => {
    const id = idOf(shown);
    return required(id === undefined ? null : await findAnyBatch(db, id, projectId), 'batch');
  };
  return createRouter()
    .openapi(list, async (c) => {
      const { project_id: projectId, status, ...page } = c.req.valid('query');
      return c.json(showPage(await pageOfBatches(db, page, { projectId, status }), showBatchRow), 200);
    })
    .openapi(show, async (c) => {
      const asked = { id: c.req.valid('param').id, projectId: c.req.valid('query').project_id };
      return c.json(showBatchRow(await find(asked)), 200);
    })
    .openapi(download, async (c) => {
      const { id, file } = c.req.valid('param');
      const batch = await find({ id, projectId: c.req.valid('query').project_id });
      const shown = file === 'output' ? batch.outputFileId : batch.errorFileId;
      const ended = batch.endedAtMs === null ? null : shown;
      const own = { projectId: batch.projectId, id: ended ?? '' };
      const found = required(ended === null ? null : await findFile(db, own, services.clock.nowMs()), 'file');
      const headers = {
        'Content-Type': 'text/plain',
        'Content-Disposition': `attachment; filename="${showBatchRow(batch).batch_id}_${file}.jsonl"`,
      };
      const content = found.bytes === 0 ? '' : services.files.store.read(found.id);
      // The route's type knows texts only; a stream is one too.
      return c.text(content as string, 200, headers);
    })
    .openapi(cancel, async (c) => {
      const before = await find({ id: c.req.valid('param').id, projectId: c.req.valid('query').project_id });
      const after = await cancelBatch(services, before);
      if (after === null) throw new GatewayError('conflict', `The batch is ${before.status}, and can't be cancelled.`);
      await addAuditEntry(db, {
        ...{ actor: c.get('actor').name, action: 'cancel', resource: 'batch', resourceId: after.id },
        before: showBatchRow(before),
        after: showBatchRow(after),
      });
      return c.json(showBatchRow(after), 200);
    });
}
