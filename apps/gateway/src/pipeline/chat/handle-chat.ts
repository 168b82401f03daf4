import { untilGone } from '@llm0/core/async/until-gone';
import { OwnFileError } from '@llm0/core/chat/own-files';
import type { Dialect } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';
import { guardAnswer } from '../guard/guard-answer';
import { guardInput, isGuarded, isSame, withGuarded } from '../guard/guard-input';
import { handleRefusal, type Progress } from '../handle-refusal';
import { Meter } from '../metering/meter';
import { admitPlanned, CHAT } from '../request/admit';
import { admitInTurn } from '../request/admit-in-turn';
import { authenticate, type ChosenKey } from '../request/authenticate';
import { claimCompletion, hasIdempotencyKey, UNCLAIMED } from '../request/idempotency';
import type { Authenticated } from '../request/load-principal';
import { openContext } from '../request/open-context';
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
  const progress: Progress = {};
  const underWay = httpRequest instanceof HeldRequest ? httpRequest.underWay : services.openRequests.enter();
  try {
    const ctx = openContext(services, httpRequest, { held: underWay.held, chosen });
    progress.ctx = ctx;
    let principal = await authenticate(services, httpRequest, chosen);
    progress.principal = principal;
    ctx.held.key = principal.key.id;
    const { body, isLarge } = await readRequestBody(services, httpRequest, underWay);
    progress.body = body;
    if (typeof body.model === 'string') progress.requestedModel = body.model;
    progress.stream = body.stream === true;
    const { headers } = httpRequest;
    const { responseStorage } = dialect;
    const { request: decoded, isLarge: isLoadedLarge } =
      responseStorage === undefined
        ? { request: dialect.decodeRequest(body, headers), isLarge: false }
        : await loadConversation(services, { dialect, responseStorage, body, headers, ctx, principal });
    const request = isLarge || isLoadedLarge ? await withDigest(decoded) : decoded;
    progress.request = request;
    progress.body = undefined;
    const judge = (by: Authenticated) => guardInput(services, { ctx, principal: by, request, progress });
    let guarding = isGuarded(ctx, principal) ? await judge(principal) : undefined;
    if (guarding !== undefined) principal = guarding.principal;
    const judgeAgain = async (by: Authenticated) => {
      guarding = await judge(by);
      return guarding?.request;
    };
    const toSend = guarding?.request;
    const input = { ctx, principal, dialect: dialect.name, request, toSend, judgeAgain, httpRequest };
    const claimed = hasIdempotencyKey(httpRequest) ? await claimCompletion(services, input, httpRequest) : UNCLAIMED;
    const { claim } = claimed;
    progress.claim = claim;
    const waits = principal.project.queueTimeoutMs !== null || ctx.runId !== undefined;
    const admitted =
      claimed.replay ?? (await (waits ? admitInTurn(services, input, CHAT) : admitPlanned(services, input, CHAT)));
    progress.principal = admitted.principal;
    const meter = new Meter(services, { ctx, dialect: dialect.name, admission: admitted });
    progress.meter = meter;
    const guarded = isSame(guarding, admitted) ? guarding : await judge(admitted.principal);
    meter.guard = guarded?.guard;
    const admission = withGuarded(admitted, guarded);
    const pending = produceAnswer(services, ctx, admission);
    meter.watch(pending);
    // A client that disconnects leaves its flight; the last one out cancels upstream.
    const produced = pending.ready ?? (await untilGone(pending.answer, httpRequest.signal, pending));
    const answer = guardAnswer(services, { guarded, answer: produced, ctx, admission, dialect });
    meter.attach(answer);
    return await respond(services, { dialect, ctx, admission, answer, meter, claim, httpRequest, onEnd: underWay.end });
  } catch (cause) {
    return answerFailed(services, { dialect, httpRequest, chosen, progress, underWay, cause });
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
