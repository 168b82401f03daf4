// Postgres, disk or bucket unreachable: 503 or 500; a file of another project is 404.
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import {
  ARRIVING,
  createFileWithin,
  deleteFile,
  findFile,
  listFiles,
  type StoredFile,
} from '@llm0/drizzle/queries/batches/files';
import type { ErrorEnvelope } from '../dialects/dialect';
import type { Authenticated } from '../pipeline/request/authenticate';
import { checkBodyType } from '../pipeline/tasks/read-form';
import type { Services } from '../services/contract';
import { answerOwn } from './answer-own';
import type { FileShape } from './file-shapes';
import { PREFIXES, readId } from './own-ids';
import { readListQuery } from './read-list-query';
import { MAX_FILE_BYTES, receiveFile } from './receive-file';

/** A request of a file or of all; `id` is its caller's. */
export interface FileRequest {
  readonly request: Request;
  readonly dialect: ErrorEnvelope;
  readonly shape: FileShape;
  readonly id: string;
}

/** Answers one method of one path. */
type Work = (services: Services, asked: FileRequest, principal: Authenticated) => Promise<Response>;

/** Endpoints of files by path and method. */
export const FILE_ROUTES: Readonly<Record<string, Readonly<Record<string, Work>>>> = {
  '/v1/files': { POST: create, GET: list },
  '/v1/files/:id': { GET: show, DELETE: remove },
  '/v1/files/:id/content': { GET: download },
};

/** `…/v1/files`: files of the key's project, in the shapes of the caller's vendor. */
export function handleFiles(services: Services, asked: FileRequest, work: Work): Promise<Response> {
  return answerOwn(services, { ...asked, name: 'openai-files', isCounted: true }, ({ principal }) =>
    work(services, asked, principal),
  );
}

async function create({ files, clock, config }: Services, { request, shape }: FileRequest, principal: Authenticated) {
  checkBodyType(request, 'form');
  const owner = { id: Bun.randomUUIDv7(), projectId: principal.project.id, apiKeyId: principal.key.id };
  const place = async (file: Omit<StoredFile, keyof typeof owner>) => {
    const placed = await createFileWithin(files.db, { ...owner, ...file }, config.files.maxProjectBytes);
    if (placed === null) throw storeIsFull(config.files.maxProjectBytes);
    return placed;
  };
  const nowMs = clock.nowMs();
  const arriving = { name: '', purpose: ARRIVING, createdAtMs: nowMs, expiresAtMs: nowMs + ARRIVAL_MS };
  const sent = Number(request.headers.get('content-length') ?? 0) - FORM_BYTES;
  await place({ ...arriving, bytes: Math.max(0, Math.min(MAX_FILE_BYTES, sent)) });
  try {
    const { expiresAfterSeconds, ...received } = await receiveFile(files.store, { id: owner.id, request, shape });
    const createdAtMs = clock.nowMs();
    const expiresAtMs = expiresAfterSeconds === undefined ? null : createdAtMs + 1000 * expiresAfterSeconds;
    return Response.json(shape.show(await place({ ...received, createdAtMs, expiresAtMs })));
  } catch (error) {
    await deleteFile(files.db, owner);
    await files.store.remove(owner.id);
    throw error;
  }
}

/** About as much as the form around a file has. */
const FORM_BYTES = 1024;
/** An upload that takes longer was cut off with its process. */
const ARRIVAL_MS = 86_400_000;

function storeIsFull(most: number): GatewayError {
  const message = `The files of this project have ${most} bytes together, which is the most. Delete some of them.`;
  return new GatewayError('request_too_large', message, { param: 'file' });
}

async function list({ files, clock }: Services, { request, shape }: FileRequest, { project }: Authenticated) {
  const query = new URL(request.url).searchParams;
  const idOf = (shown: string) => readId(PREFIXES.file, shown);
  const page = readListQuery(query, { fallback: 100, most: 10_000, idOf, after: shape.after });
  const asked = { ...page, projectId: project.id, purpose: query.get('purpose') ?? undefined };
  const { data, hasMore } = await listFiles(files.db, asked, clock.nowMs());
  return Response.json(shape.showPage(data.map(shape.show), hasMore));
}

async function show(services: Services, asked: FileRequest, principal: Authenticated) {
  return Response.json(asked.shape.show(await findOr404(services, asked.id, principal)));
}

async function download(services: Services, asked: FileRequest, principal: Authenticated) {
  const { id, bytes, name } = await findOr404(services, asked.id, principal);
  return new Response(bytes === 0 ? '' : services.files.store.read(id), {
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Length': String(bytes),
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
    },
  });
}

async function remove(services: Services, asked: FileRequest, principal: Authenticated) {
  const { id, projectId } = await findOr404(services, asked.id, principal);
  if (!(await deleteFile(services.files.db, { id, projectId }))) {
    throw invalidRequest('file_id', 'A batch reads this file. Cancel the batch first, or wait for its end.');
  }
  await services.files.store.remove(id);
  return Response.json(asked.shape.showDeleted(asked.id));
}

/** The file of a shown id; throws 404 where its project has none. */
export async function findOr404(
  { files, clock }: Pick<Services, 'files' | 'clock'>,
  shown: string,
  { project, param = 'id' }: Pick<Authenticated, 'project'> & { readonly param?: string },
): Promise<StoredFile> {
  const id = readId(PREFIXES.file, shown);
  const found = id === undefined ? null : await findFile(files.db, { projectId: project.id, id }, clock.nowMs());
  if (found !== null) return found;
  throw new GatewayError('not_found', `No such File object: ${shown.slice(0, 100)}`, { param });
}
