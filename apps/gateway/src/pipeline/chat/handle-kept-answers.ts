// Postgres unreachable: 503; answers this process has not written yet are shown all the same.
import { requestIdOf } from '@llm0/core/conversations/own-ids';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { AnswerKeeping, Dialect } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { handleKeyRequest, type KeyNeeds } from '../handle-key-request';

type Needs = KeyNeeds & Pick<Services, 'keptAnswers'>;

export type KeepingDialect = Dialect & { readonly keeping: AnswerKeeping };

export interface KeptAnswerRequest {
  readonly request: Request;
  readonly id: string;
  readonly dialect: KeepingDialect;
}

interface Asked extends KeptAnswerRequest {
  readonly projectId: string;
  readonly query: URLSearchParams;
}

/** `GET /v1/responses/{id}`: the answer as its caller got it. */
export function showKeptAnswer(services: Needs, asked: KeptAnswerRequest): Promise<Response> {
  return answer(services, asked, async ({ id, projectId, query }) => {
    if (query.get('stream') === 'true') {
      throw new GatewayError('unsupported_parameter', 'Kept answers are not streamed again. Leave "stream" out.', {
        param: 'stream',
      });
    }
    return (await findOr404(id, (requestId) => services.keptAnswers.readAnswer(projectId, requestId))).answer;
  });
}

/** `DELETE /v1/responses/{id}` */
export function deleteKeptAnswer(services: Needs, asked: KeptAnswerRequest): Promise<Response> {
  return answer(services, asked, async ({ id, projectId }) => {
    const requestId = requestIdOf(id);
    const removed = requestId !== undefined && (await services.keptAnswers.remove(projectId, requestId));
    if (!removed) throw unknown(id);
    return JSON.stringify({ id, object: 'response', deleted: true });
  });
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** `GET /v1/responses/{id}/input_items`: all that led to the answer, the newest first unless asked otherwise. */
export function listInputItems(services: Needs, asked: KeptAnswerRequest): Promise<Response> {
  return answer(services, asked, async ({ id, projectId, query, dialect }) => {
    const limit = readLimit(query);
    const order = query.get('order') ?? 'desc';
    if (order !== 'asc' && order !== 'desc') throw invalid('order', '"order" must be "asc" or "desc".');
    const turns = await findOr404(id, (requestId) => services.keptAnswers.readConversation(projectId, requestId));
    const items = dialect.keeping.inputItems(turns);
    const ordered = order === 'asc' ? items : items.toReversed();
    const after = query.get('after');
    const start = after === null ? 0 : ordered.findIndex((item) => item.id === after) + 1;
    if (after !== null && start === 0) throw invalid('after', '"after" must be the id of an item of the list.');
    const data = ordered.slice(start, start + limit);
    return JSON.stringify({
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: start + limit < ordered.length,
    });
  });
}

/** `POST /v1/responses/{id}/cancel`: there is nothing that goes on in the background. */
export function refuseCancel(services: Needs, asked: KeptAnswerRequest): Promise<Response> {
  return answer(services, asked, () => {
    throw new GatewayError('invalid_request', 'Only answers made in the background can be cancelled; none are here.');
  });
}

function readLimit(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalid('limit', `"limit" must be a whole number from 1 to ${MAX_LIMIT}.`);
}

async function findOr404<T>(id: string, find: (requestId: string) => Promise<T | undefined>): Promise<T> {
  const requestId = requestIdOf(id);
  const found = requestId === undefined ? undefined : await find(requestId);
  if (found === undefined) throw unknown(id);
  return found;
}

function unknown(id: string): GatewayError {
  return new GatewayError('not_found', `Response with id '${id.slice(0, 100)}' not found.`, { param: 'id' });
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

function answer(
  services: Needs,
  asked: KeptAnswerRequest,
  build: (asked: Asked) => Promise<string>,
): Promise<Response> {
  return handleKeyRequest(services, asked, async ({ projectId }, headers) => {
    const query = new URL(asked.request.url).searchParams;
    headers['Content-Type'] = 'application/json';
    return new Response(await build({ ...asked, projectId, query }), { headers });
  });
}
