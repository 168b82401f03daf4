import { packText } from '@llm0/core/cache/packed-text';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { piecesOfJson } from '@llm0/core/chat/write-json-in-slices';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Services } from '../../services/contract';
import { handleRefusal, type Progress } from '../handle-refusal';
import { authenticate, latestPrincipal } from '../request/authenticate';
import { openContext, type RequestContext } from '../request/open-context';
import { readRequestBody } from '../request/read-request';
import { ownerOf } from './answer-owner';
import type { StoringDialect } from './handle-stored-responses';
import { continueBody, storableBody } from './load-conversation';

/**
 * A request that is only kept, so that the next one sends what is new. It asks no provider and costs nothing; a row is
 * left only if it is refused. Source: https://developers.openai.com/api/docs/guides/websocket-mode
 */
export async function handleWarmUp(services: Services, dialect: StoringDialect, request: Request): Promise<Response> {
  const progress: Progress = { stream: true };
  const underWay = services.openRequests.enter();
  try {
    const ctx = openContext(services, request, { held: underWay.held });
    progress.ctx = ctx;
    const principal = await latestPrincipal(services, await authenticate(services, request));
    progress.principal = principal;
    ctx.held.key = principal.key.id;
    const read = await readRequestBody(services, request, underWay);
    const { model } = read.body;
    if (typeof model !== 'string') throw invalidRequest('model', '"model" must be a string.');
    progress.requestedModel = model;
    const { responseStorage, wireFormat } = dialect;
    const body = storableBody(services, { responseStorage, body: read.body });
    const named = responseStorage.referencesOf(body);
    const whole = named && (await continueBody(services, { responseStorage, body, ctx, principal }, named));
    const wire = { format: wireFormat, body: whole?.body ?? body };
    const kept = { model, messages: [], stream: true, extra: {}, wire, earlierItems: whole?.earlierItems ?? 0 };
    const { bytes, answer } = encodeNothing(services, { dialect, ctx, request: kept });
    const part = responseStorage.partToKeep(kept, ctx.requestId, { output: [] });
    if (part !== undefined) {
      const input = read.isLarge ? await packText(await piecesOfJson(part.input)) : JSON.stringify(part.input);
      services.storedResponses.keep({ ...part, ...ownerOf(ctx, principal), id: ctx.requestId, input, answer });
    }
    return new Response(bytes, { headers: { 'Content-Type': 'text/event-stream' } });
  } catch (cause) {
    return handleRefusal(services, { dialect: dialect.name, envelope: dialect, progress, cause });
  } finally {
    underWay.end();
  }
}

interface Nothing {
  readonly dialect: StoringDialect;
  readonly ctx: RequestContext;
  readonly request: ChatRequest;
}

/** The events of a complete answer without output. */
function encodeNothing({ clock }: Pick<Services, 'clock'>, { dialect, ctx, request }: Nothing) {
  const { requestId, startMs } = ctx;
  const about = { requestId, model: request.model, createdSeconds: Math.floor(clock.nowMs() / 1000) };
  const encoder = dialect.createStreamEncoder({ ...about, request });
  const begun = encoder.encode({ events: [] });
  const latencyMs = clock.monotonicMs() - startMs;
  const nothing = { provider: 'llm0', cache: 'miss', usage: ZERO_USAGE, costNanoUsd: 0 } as const;
  const ended = encoder.finish({ ...about, ...nothing, latencyMs });
  return { bytes: Buffer.concat(begun === null ? [ended] : [begun, ended]), answer: encoder.answer ?? '{}' };
}
