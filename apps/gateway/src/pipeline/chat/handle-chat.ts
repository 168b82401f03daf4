import { untilGone } from '@llm0/core/async/until-gone';
import type { JsonObject } from '@llm0/core/chat/json';
import { OwnFileError } from '@llm0/core/chat/own-files';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { Dialect } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';
import { guardAnswer } from '../guard/guard-answer';
import { type GuardedRequest, guardInput, withGuarded } from '../guard/guard-input';
import { handleRefusal, type Progress } from '../handle-refusal';
import { Meter } from '../metering/meter';
import { admitPlanned, CHAT, type Judge } from '../request/admit';
import { admitInTurn } from '../request/admit-in-turn';
import { authenticate, type ChosenKey } from '../request/authenticate';
import { claimCompletion, hasIdempotencyKey, UNCLAIMED } from '../request/idempotency';
import type { Authenticated } from '../request/load-principal';
import { openContext, type RequestContext } from '../request/open-context';
import { HeldRequest, readRequestBody, withDigest } from '../request/read-request';
import { loadConversation } from './load-conversation';
import { produceAnswer } from './produce-answer';
import { respond } from './respond';
import { withOwnFiles } from './with-own-files';

/** `POST` of a chat dialect: the request path, in reading order. `chosen`: sent by an operator as that key. */
export async function handleChat(
  services: Services,
  dialect: Dialect,
  httpRequest: Request,
  chosen?: ChosenKey,
): Promise<Response> {
  const underWay = httpRequest instanceof HeldRequest ? httpRequest.underWay : services.openRequests.enter();
  const chat = new ChatUnderWay(services);
  try {
    const ctx = openContext(services, httpRequest, chosen === undefined ? underWay : { held: underWay.held, chosen });
    chat.ctx = ctx;
    const known = await authenticate(services, httpRequest, chosen);
    chat.principal = known;
    ctx.held.key = known.key.id;
    const { body, isLarge } = await readRequestBody(services, httpRequest, underWay);
    chat.body = body;
    if (typeof body.model === 'string') chat.requestedModel = body.model;
    chat.stream = body.stream === true;
    const { headers } = httpRequest;
    const { responseStorage } = dialect;
    const loaded =
      responseStorage &&
      (await loadConversation(services, { dialect, responseStorage, body, headers, ctx, principal: known }));
    const decoded = loaded === undefined ? dialect.decodeRequest(body, headers) : loaded.request;
    const request = isLarge || loaded?.isLarge === true ? await withDigest(decoded) : decoded;
    chat.request = request;
    chat.body = undefined;
    if (known.guardrails !== undefined || ctx.controls.guardrail !== undefined) await chat.judgeAgain(known);
    const { guarding } = chat;
    const principal = guarding === undefined ? known : guarding.principal;
    const input = { ctx, principal, dialect: dialect.name, request, toSend: guarding?.request, judge: chat, httpRequest };
    const claimed = hasIdempotencyKey(httpRequest) ? await claimCompletion(services, input, httpRequest) : UNCLAIMED;
    const { claim } = claimed;
    chat.claim = claim;
    const waits = principal.project.queueTimeoutMs !== null || ctx.runId !== undefined;
    const admitted =
      claimed.replay ?? (await (waits ? admitInTurn(services, input, CHAT) : admitPlanned(services, input, CHAT)));
    chat.principal = admitted.principal;
    const meter = new Meter(services, { ctx, dialect: dialect.name, admission: admitted });
    chat.meter = meter;
    const isSame = chat.guarding?.principal.guardrails === admitted.principal.guardrails;
    if (!isSame) await chat.judgeAgain(admitted.principal);
    const guarded = chat.guarding;
    meter.guard = guarded?.guard;
    const admission = guarded === undefined ? admitted : withGuarded(admitted, guarded);
    const pending = produceAnswer(services, ctx, admission);
    meter.watch(pending);
    // A client that disconnects leaves its flight; the last one out cancels upstream.
    const given = pending.ready ?? (await untilGone(pending.answer, httpRequest.signal, pending));
    const answer =
      guarded === undefined ? given : guardAnswer(services, { guarded, answer: given, ctx, admission, dialect });
    meter.attach(answer);
    return await respond(services, { dialect, ctx, admission, answer, meter, claim, httpRequest, onEnd: underWay.end });
  } catch (cause) {
    return answerFailed(services, { dialect, httpRequest, chosen, progress: chat, underWay, cause });
  }
}

/** One request, filled in as it goes: for the answer to a failure, and for guardrails that change meanwhile. */
class ChatUnderWay implements Progress, Judge {
  ctx: RequestContext | undefined;
  principal: Authenticated | undefined;
  body: JsonObject | undefined;
  requestedModel = '';
  stream = false;
  request: ChatRequest | undefined;
  guard: RequestGuard | undefined;
  claim: Progress['claim'];
  meter: Progress['meter'];
  /** As the guardrails let it pass; undefined without any. */
  guarding: GuardedRequest<ChatRequest> | undefined;

  constructor(private readonly services: Services) {}

  async judgeAgain(principal: Authenticated): Promise<ChatRequest | undefined> {
    const { ctx, request } = this as ChatUnderWay & { readonly ctx: RequestContext; readonly request: ChatRequest };
    this.guarding = await guardInput(this.services, { ctx, principal, request, progress: this });
    return this.guarding?.request;
  }
}

interface Failed {
  readonly dialect: Dialect;
  readonly httpRequest: Request;
  readonly chosen: ChosenKey | undefined;
  readonly progress: Progress;
  readonly underWay: UnderWay;
  readonly cause: unknown;
}

function refuse(services: Services, { dialect, progress, underWay, cause }: Failed): Promise<Response> {
  underWay.end();
  return handleRefusal(services, { dialect: dialect.name, envelope: dialect, progress, cause });
}

/** Serves a request that names files as if it held them; refuses any other one. */
async function answerFailed(services: Services, failed: Failed): Promise<Response> {
  const { dialect, httpRequest, chosen, progress, underWay, cause } = failed;
  const { body, principal } = progress;
  const isAskedAgain = cause instanceof OwnFileError && body !== undefined && principal !== undefined;
  if (!isAskedAgain) return refuse(services, failed);
  try {
    const whole = await withOwnFiles(services, { body, projectId: principal.project.id, underWay });
    if (whole === undefined) return refuse(services, failed);
    return handleChat(services, dialect, new HeldRequest(httpRequest, whole, underWay), chosen);
  } catch (problem) {
    return refuse(services, { ...failed, cause: problem });
  }
}
