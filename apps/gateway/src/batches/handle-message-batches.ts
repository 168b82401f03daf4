// As OpenAI's batches. The requests come in the body, and go to the file store as the input of their batch.
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { deleteBatch, findBatch, listBatches, type StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { createFile, deleteFile, INNER } from '@llm0/drizzle/queries/batches/files';
import { PREFIXES, readId } from '../files/own-ids';
import { readListQuery } from '../files/read-list-query';
import { readRequestBody } from '../pipeline/request/read-request';
import type { Services } from '../services/contract';
import type { AskedBatch, BatchRoutes } from './batch-request';
import { cancelBatch } from './change-batch';
import { openBatch } from './create-batch';
import { MESSAGES_PATH } from './line-endpoints';
import { showMessageBatch } from './show-batch';

const PATH = '/v1/messages/batches';

/** Endpoints of Anthropic's batches by path and method. */
export const MESSAGE_BATCH_ROUTES: BatchRoutes = {
  [PATH]: { POST: create, GET: list },
  [`${PATH}/:id`]: { GET: show, DELETE: remove },
  [`${PATH}/:id/cancel`]: { POST: cancel },
  [`${PATH}/:id/results`]: { GET: results },
};

const dialect = 'anthropic' as const;

async function create(services: Services, asked: AskedBatch): Promise<Response> {
  const { principal, ctx, request, underWay, endpoints } = asked;
  const { batches, files, clock } = services;
  const { body } = await readRequestBody(services, request, underWay);
  const { requests } = body;
  if (!Array.isArray(requests) || requests.length === 0) {
    throw invalidRequest('requests', '"requests" must be a list of requests.');
  }
  const endpoint = endpoints[MESSAGES_PATH];
  if (endpoint === undefined) throw new Error('there is no endpoint for messages');
  const inputFileId = Bun.randomUUIDv7();
  const projectId = principal.project.id;
  const bytes = await files.store.write(inputFileId, encodeLines(requests));
  try {
    const [createdAtMs, expiresAtMs] = [clock.nowMs(), null];
    const file = { id: inputFileId, projectId, apiKeyId: principal.key.id, name: 'requests.jsonl', purpose: INNER };
    await createFile(batches.db, { ...file, bytes, createdAtMs, expiresAtMs });
    const origin = { ctx, principal, headers: request.headers };
    const batch = await openBatch(services, { dialect, path: MESSAGES_PATH, endpoint, inputFileId, origin });
    if (batch.status !== 'failed') return Response.json(shown(batch, request));
    await deleteBatch(batches.db, { projectId, dialect, id: batch.id });
    const [fault] = batch.errors ?? [];
    throw invalidRequest('requests', `requests.${(fault?.line ?? 1) - 1}: ${fault?.message ?? 'is no request.'}`);
  } catch (error) {
    await deleteFile(batches.db, { projectId, id: inputFileId });
    await files.store.remove(inputFileId);
    throw error;
  }
}

async function* encodeLines(requests: readonly unknown[]): AsyncGenerator<Uint8Array> {
  for (const one of requests) yield new Uint8Array(Buffer.from(`${JSON.stringify(one)}\n`));
}

const shown = (batch: StoredBatch, { url }: Pick<Request, 'url'>) => showMessageBatch(batch, new URL(url).origin);

async function list({ batches }: Services, { request, principal }: AskedBatch): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const idOf = (text: string) => readId(PREFIXES.messageBatch, text);
  const names = { after: 'after_id', before: 'before_id' };
  const page = readListQuery(query, { fallback: 20, most: 1000, idOf, ...names });
  const found = await listBatches(batches.db, { ...page, projectId: principal.project.id, dialect });
  // Those in front of a row were read from it on.
  const data = (page.order === 'asc' ? found.data.toReversed() : found.data).map((batch) => shown(batch, request));
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return Response.json({ data, has_more: found.hasMore, ...ends });
}

async function show(services: Services, asked: AskedBatch): Promise<Response> {
  return Response.json(shown(await findOr404(services, asked), asked.request));
}

async function cancel(services: Services, asked: AskedBatch): Promise<Response> {
  const batch = await findOr404(services, asked);
  const now = (await cancelBatch(services, batch)) ?? (await findOr404(services, asked));
  return Response.json(shown(now, asked.request));
}

async function remove(services: Services, asked: AskedBatch): Promise<Response> {
  const { batches, files } = services;
  const { id, projectId } = await findOr404(services, asked);
  const gone = await deleteBatch(batches.db, { projectId, dialect, id });
  if (gone === null) throw invalidRequest('message_batch_id', 'The batch is being processed. Cancel it first.');
  if (gone.outputFileId !== null) {
    await deleteFile(batches.db, { projectId, id: gone.outputFileId });
    await files.store.remove(gone.outputFileId);
  }
  return Response.json({ id: asked.id, type: 'message_batch_deleted' });
}

async function results(services: Services, asked: AskedBatch): Promise<Response> {
  const { endedAtMs, outputFileId } = await findOr404(services, asked);
  if (endedAtMs === null) throw invalidRequest('message_batch_id', 'The batch has no results before its end.');
  const body = outputFileId === null ? '' : services.files.store.read(outputFileId);
  return new Response(body, { headers: { 'Content-Type': 'application/x-jsonl' } });
}

async function findOr404({ batches }: Services, { id: asked, principal }: AskedBatch): Promise<StoredBatch> {
  const id = readId(PREFIXES.messageBatch, asked);
  const found = id === undefined ? null : await findBatch(batches.db, { projectId: principal.project.id, dialect, id });
  if (found !== null) return found;
  throw new GatewayError('not_found', `No batch found with id '${asked.slice(0, 100)}'.`, {
    param: 'message_batch_id',
  });
}
