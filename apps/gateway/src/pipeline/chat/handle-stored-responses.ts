// Postgres unreachable: 503; answers this process has not written yet are shown all the same.
import { type JsonObject, type JsonValue, parseJson } from '@llm0/core/chat/json';
import { requestIdOf } from '@llm0/core/conversations/own-ids';
import type { AnswerReader } from '@llm0/core/conversations/stored-responses';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { guardNativeRequest } from '@llm0/core/guardrails/chat/guard-native';
import { chosenGuardrails } from '@llm0/core/guardrails/guardrails';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { Dialect, ResponseStorage } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { createGuard } from '../guard/guard-input';
import { judgeNativeAnswer } from '../guard/guard-native';
import { handleKeyRequest, type KeyNeeds } from '../handle-key-request';
import { openContext } from '../request/open-context';
import { respondError } from '../request/respond-error';
import { takenWhole } from '../request/taken-stream';
import { readerOf } from './answer-owner';
import { readTurns } from './load-conversation';

type Needs = KeyNeeds & Pick<Services, 'storedResponses' | 'tracing' | 'openRequests' | 'readers'>;

export type StoringDialect = Dialect & { readonly responseStorage: ResponseStorage };

export interface KeptAnswerRequest {
  readonly request: Request;
  readonly id: string;
  readonly dialect: StoringDialect;
}

interface Asked {
  readonly id: string;
  readonly reader: AnswerReader;
  readonly query: URLSearchParams;
  readonly responseStorage: ResponseStorage;
  /** Judges the shown answer; absent without rules. */
  readonly guard: RequestGuard | undefined;
}

/** Gives JSON text. */
type Work = (services: Needs, asked: Asked) => Promise<string>;

/** Operations on a stored answer, by path and method. */
export const STORED_RESPONSE_ROUTES: Readonly<Record<string, Readonly<Record<string, Work>>>> = {
  '/v1/responses/:id': { GET: show, DELETE: remove },
  '/v1/responses/:id/input_items': { GET: listInputItems },
  '/v1/responses/:id/cancel': { POST: refuseCancel },
};

export function handleStoredResponse(services: Needs, asked: KeptAnswerRequest, path: string): Promise<Response> {
  const { request, id, dialect } = asked;
  const methods = STORED_RESPONSE_ROUTES[path] ?? {};
  const work = methods[request.method];
  if (work === undefined) return Promise.resolve(refuseMethod(services, dialect, Object.keys(methods)));
  return handleKeyRequest(services, asked, async (principal, headers) => {
    const underWay = services.openRequests.enter();
    const { held } = underWay;
    held.key = principal.key.id;
    try {
      const ctx = openContext(services, request, { held, chosen: { requestId: headers['X-Request-Id'] } });
      const guardrails = chosenGuardrails(principal.guardrails, ctx.controls.guardrail);
      const guard = guardrails && createGuard(services, { ctx, principal, guardrails });
      const query = new URL(request.url).searchParams;
      headers['Content-Type'] = 'application/json';
      const reader = readerOf(ctx, principal);
      const text = await work(services, { id, reader, query, responseStorage: dialect.responseStorage, guard });
      const by = { readers: services.readers, request, held, key: principal.key.id };
      return new Response(await takenWhole(by, text), { headers });
    } finally {
      underWay.end();
    }
  });
}

function refuseMethod(services: Needs, dialect: Dialect, methods: readonly string[]): Response {
  const allowed = methods.join(', ');
  const error = new GatewayError('method_not_allowed', `This path takes ${allowed} only.`);
  const response = respondError(error, { requestId: services.createId(), dialect });
  response.headers.set('Allow', allowed);
  return response;
}

/** The answer as its caller got it. */
async function show({ storedResponses }: Needs, { id, reader, query, guard }: Asked): Promise<string> {
  if (query.get('stream') === 'true') {
    const message = 'Stored responses can\'t be streamed. Leave out "stream".';
    throw new GatewayError('unsupported_parameter', message, { param: 'stream' });
  }
  const { answer } = await findOr404(id, (requestId) => storedResponses.readAnswer(reader, requestId));
  return guard === undefined ? answer : judgeNativeAnswer(guard, answer, 'application/json');
}

async function remove({ storedResponses }: Needs, { id, reader }: Asked): Promise<string> {
  const requestId = requestIdOf(id);
  const removed = requestId !== undefined && (await storedResponses.remove(reader, requestId));
  if (!removed) throw unknown(id);
  return JSON.stringify({ id, object: 'response', deleted: true });
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** All that led to the answer, the newest first unless asked otherwise. */
async function listInputItems(
  { storedResponses }: Needs,
  { id, reader, query, responseStorage, guard }: Asked,
): Promise<string> {
  const limit = readLimit(query);
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw invalidRequest('order', '"order" must be "asc" or "desc".');
  const turns = await findOr404(id, (requestId) => storedResponses.readConversation(reader, requestId));
  const items = responseStorage.inputItems(await readTurns(turns));
  const ordered = order === 'asc' ? items : items.toReversed();
  const after = query.get('after');
  const start = after === null ? 0 : ordered.findIndex((item) => item.id === after) + 1;
  if (after !== null && start === 0) throw invalidRequest('after', '"after" must be the id of an item of the list.');
  const data = ordered.slice(start, start + limit);
  return JSON.stringify({
    object: 'list',
    data: guard === undefined ? data : await judgeItems(guard, data),
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  });
}

/** Checks the stored answer by output rules, then everything by input rules. */
async function judgeItems(guard: RequestGuard, data: readonly JsonObject[]): Promise<JsonValue> {
  const shown = await judgeNativeAnswer(guard, JSON.stringify({ output: data }), 'application/json');
  const output = (parseJson(shown) as { output: JsonObject[] }).output;
  return (await guardNativeRequest(guard, { input: output })).input ?? [];
}

/** Nothing runs in the background, so nothing can be cancelled. */
async function refuseCancel(): Promise<string> {
  throw new GatewayError('invalid_request', 'Only background responses can be cancelled, and this gateway has none.');
}

function readLimit(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidRequest('limit', `"limit" must be a whole number from 1 to ${MAX_LIMIT}.`);
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
