// Stores unreachable: 503, and no batch. A batch of another project is 404.
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { findBatch, listBatches, type StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { findOr404 as findFileOr404 } from '../files/handle-files';
import { PREFIXES, readId } from '../files/own-ids';
import { readListQuery } from '../files/read-list-query';
import { readExpiry } from '../files/receive-file';
import { readRequestBody } from '../pipeline/request/read-request';
import type { Services } from '../services/contract';
import type { AskedBatch, BatchRoutes } from './batch-request';
import { cancelBatch } from './change-batch';
import { openBatch } from './create-batch';
import { MESSAGES_PATH } from './line-endpoints';
import { showBatch } from './show-batch';

/** Endpoints of OpenAI's batches by path and method. */
export const BATCH_ROUTES: BatchRoutes = {
  '/v1/batches': { POST: create, GET: list },
  '/v1/batches/:id': { GET: show },
  '/v1/batches/:id/cancel': { POST: cancel },
};

const MAX_METADATA = 16;
const MAX_METADATA_LENGTH = 512;

async function create(services: Services, asked: AskedBatch): Promise<Response> {
  const { principal, ctx, request, underWay, endpoints } = asked;
  const { body } = await readRequestBody(services, request, underWay);
  const { endpoint: path } = body;
  const endpoint = typeof path === 'string' && path !== MESSAGES_PATH ? endpoints[path] : undefined;
  if (typeof path !== 'string' || endpoint === undefined) {
    const known = Object.keys(endpoints).filter((one) => one !== MESSAGES_PATH);
    throw invalidRequest('endpoint', `"endpoint" must be one of ${known.join(', ')}.`);
  }
  if (body.completion_window !== '24h') {
    throw invalidRequest('completion_window', '"completion_window" must be "24h".');
  }
  const outputExpiresAfterSeconds =
    body.output_expires_after == null
      ? null
      : readExpiry(objectOf(body.output_expires_after, 'output_expires_after'), 'output_expires_after');
  const metadata = readMetadata(body.metadata);
  const { input_file_id: fileId } = body;
  if (typeof fileId !== 'string') throw invalidRequest('input_file_id', '"input_file_id" must be the id of a file.');
  const file = await findFileOr404(services, fileId, { project: principal.project, param: 'input_file_id' });
  if (file.purpose !== 'batch') {
    throw invalidRequest('input_file_id', `The file must have the purpose "batch", but has "${file.purpose}".`);
  }
  const batch = await openBatch(services, {
    ...{ dialect: 'openai', path, endpoint, inputFileId: file.id, metadata, outputExpiresAfterSeconds },
    origin: { ctx, principal, headers: request.headers },
  });
  return Response.json(showBatch(batch));
}

function objectOf(value: unknown, param: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw invalidRequest(param, `"${param}" must be an object.`);
}

function readMetadata(value: unknown): Record<string, string> | null {
  if (value == null) return null;
  const pairs = Object.entries(objectOf(value, 'metadata'));
  const texts = pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  const isFine = texts.every(
    ([name, text]) => name.length <= 64 && text.length <= MAX_METADATA_LENGTH && !(name + text).includes('\0'),
  );
  if (pairs.length <= MAX_METADATA && texts.length === pairs.length && isFine) return Object.fromEntries(texts);
  throw invalidRequest('metadata', `"metadata" takes up to ${MAX_METADATA} texts of up to ${MAX_METADATA_LENGTH}.`);
}

async function list({ batches }: Services, { request, principal }: AskedBatch): Promise<Response> {
  const idOf = (shown: string) => readId(PREFIXES.batch, shown);
  const page = readListQuery(new URL(request.url).searchParams, { fallback: 20, most: 100, idOf });
  const asked = { ...page, projectId: principal.project.id, dialect: 'openai' as const };
  const { data, hasMore } = await listBatches(batches.db, asked);
  const shown = data.map(showBatch);
  const ends = { first_id: shown[0]?.id ?? null, last_id: shown.at(-1)?.id ?? null };
  return Response.json({ object: 'list', data: shown, ...ends, has_more: hasMore });
}

async function show(services: Services, asked: AskedBatch): Promise<Response> {
  return Response.json(showBatch(await findOr404(services, asked)));
}

async function cancel(services: Services, asked: AskedBatch): Promise<Response> {
  const batch = await findOr404(services, asked);
  const cancelled = await cancelBatch(services, batch);
  if (cancelled !== null) return Response.json(showBatch(cancelled));
  const now = await findOr404(services, asked);
  if (now.cancellingAtMs !== null && now.endedAtMs === null) return Response.json(showBatch(now));
  throw new GatewayError('conflict', `Cannot cancel a batch with status "${now.status}".`, { param: 'batch_id' });
}

async function findOr404({ batches }: Services, { id: shown, principal }: AskedBatch): Promise<StoredBatch> {
  const id = readId(PREFIXES.batch, shown);
  const own = { projectId: principal.project.id, dialect: 'openai' as const };
  const found = id === undefined ? null : await findBatch(batches.db, { ...own, id });
  if (found !== null) return found;
  throw new GatewayError('not_found', `No batch found with id '${shown.slice(0, 100)}'.`, { param: 'batch_id' });
}
