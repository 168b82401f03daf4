import { untilGone } from '@llm0/core/async/until-gone';
import type { JsonObject } from '@llm0/core/chat/json';
import { OwnFileError } from '@llm0/core/chat/own-files';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { DialectName } from '@llm0/core/logs/log-record';
import type { Dialect } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';
import { guardAnswer } from '../guard/guard-answer';
import { type GuardedRequest, guardInput, withGuarded } from '../guard/guard-input';
import { handleRefusal, type Progress } from '../handle-refusal';
import { Meter } from '../metering/meter';
import { type AdmitInput, admitPlanned, CHAT, type Judge } from '../request/admit';
import { admitInTurn } from '../request/admit-in-turn';
import { type Authenticated, authenticate, type ChosenKey } from '../request/authenticate';
import { claimCompletion, IDEMPOTENCY_KEY, UNCLAIMED } from '../request/idempotency';
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
  const chat = new ChatUnderWay(services, dialect.name, httpRequest);
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
    chat.request = isLarge || loaded?.isLarge === true ? await withDigest(decoded) : decoded;
    chat.body = undefined;
    if (known.guardrails !== undefined || ctx.controls.guardrail !== undefined) await chat.judgeAgain(known);
    const claimed = headers.has(IDEMPOTENCY_KEY) ? await claimCompletion(services, chat, httpRequest) : UNCLAIMED;
    const { claim } = claimed;
    chat.claim = claim;
    const waits = chat.principal.project.queueTimeoutMs !== null || ctx.runId !== undefined;
    const admitted =
      claimed.replay ?? (await (waits ? admitInTurn(services, chat, CHAT) : admitPlanned(services, chat, CHAT)));
    const { principal } = admitted;
    chat.principal = principal;
    const meter = new Meter(services, { ctx, dialect: dialect.name, admission: admitted });
    chat.meter = meter;
    if (chat.guarding?.principal.guardrails !== principal.guardrails) await chat.judgeAgain(principal);
    const { guarding } = chat;
    meter.guard = guarding?.guard;
    const admission = guarding === undefined ? admitted : withGuarded(admitted, guarding);
    const pending = produceAnswer(services, ctx, admission);
    meter.watch(pending);
    // A client that disconnects leaves its flight; the last one out cancels upstream.
    const given = pending.ready ?? (await untilGone(pending.answer, httpRequest.signal, pending));
    const guarded = guarding && { guarded: guarding, answer: given, ctx, admission, dialect };
    const answer = guarded === undefined ? given : guardAnswer(services, guarded);
    meter.attach(answer);
    return await respond(services, { dialect, ctx, admission, answer, meter, claim, httpRequest, onEnd: underWay.end });
  } catch (cause) {
    return answerFailed(services, { dialect, httpRequest, chosen, progress: chat, underWay, cause });
  }
}

/** One request, filled in as it goes: what its admission, its guardrails and a failure have to know. */
class ChatUnderWay implements Progress, Judge, AdmitInput {
  ctx!: RequestContext;
  principal!: Authenticated;
  request!: ChatRequest;
  body: JsonObject | undefined;
  requestedModel = '';
  stream = false;
  guard: RequestGuard | undefined;
  claim: Progress['claim'];
  meter: Progress['meter'];
  /** As the guardrails let it pass; undefined without any. */
  guarding: GuardedRequest<ChatRequest> | undefined;
  toSend: ChatRequest | undefined;
  readonly judge = this;

  constructor(
    private readonly services: Services,
    readonly dialect: DialectName,
    readonly httpRequest: Request,
  ) {}

  async judgeAgain(principal: Authenticated): Promise<ChatRequest | undefined> {
    const { ctx, request } = this;
    const guarding = await guardInput(this.services, { ctx, principal, request, progress: this });
    this.guarding = guarding;
    this.toSend = guarding?.request;
    if (guarding !== undefined) this.principal = guarding.principal;
    return this.toSend;
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
