// Without the hot store, embeddings fail as chat does. Unreadable cached inputs are embedded again.
import { digestEmbeddingRequest } from '@llm0/core/cache/cached-embedding';
import type { EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import type { EmbeddingDialect } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { guardEmbeddings } from '../guard/guard-embeddings';
import { isGuarded, isSame } from '../guard/guard-input';
import { handleRefusal, type Progress } from '../handle-refusal';
import { admitInTurn } from '../request/admit-in-turn';
import { authenticate, type ChosenKey } from '../request/authenticate';
import { IDEMPOTENCY_KEY, UNCLAIMED } from '../request/idempotency';
import { openContext } from '../request/open-context';
import { readRequestBody } from '../request/read-request';
import { claimEmbeddings } from './claim-embeddings';
import { collectEmbeddings, withKnown } from './collect-embeddings';
import { EmbeddingMeter } from './embedding-meter';
import { EMBEDDINGS, type EmbeddingJob } from './plan-embeddings';
import { withText } from './read-tokens';
import { respondEmbeddings } from './respond-embeddings';

const NONE_KNOWN: EmbeddingJob['known'] = new Map();

/** `POST /v1/embeddings` */
export async function handleEmbeddings(
  services: Services,
  dialect: EmbeddingDialect,
  httpRequest: Request,
  chosen?: ChosenKey,
): Promise<Response> {
  const progress: Progress = {};
  const underWay = services.openRequests.enter();
  try {
    const ctx = openContext(services, httpRequest, { held: underWay.held, chosen });
    progress.ctx = ctx;
    let principal = await authenticate(services, httpRequest, chosen);
    progress.principal = principal;
    ctx.held.key = principal.key.id;
    const { body, isLarge } = await readRequestBody(services, httpRequest, underWay);
    if (typeof body.model === 'string') progress.requestedModel = body.model;
    const decoded = dialect.decodeRequest(body);
    const request = isLarge ? await withDigest(decoded.request) : decoded.request;
    const guarding = isGuarded(ctx, principal)
      ? await guardEmbeddings(services, { ctx, principal, request, progress })
      : undefined;
    if (guarding !== undefined) principal = guarding.principal;
    const job = { model: request.model, request, known: NONE_KNOWN, toSend: guarding?.request };
    const input = await withText(services, { ctx, principal, dialect: dialect.name, request: job, httpRequest });
    const claimed = httpRequest.headers.has(IDEMPOTENCY_KEY)
      ? await claimEmbeddings(services, input, { httpRequest, body })
      : UNCLAIMED;
    const { claim } = claimed;
    progress.claim = claim;
    const admitted = claimed.replay ?? (await admitInTurn(services, await withKnown(services, input), EMBEDDINGS));
    progress.principal = admitted.principal;
    const meter = new EmbeddingMeter(services, { ctx, dialect: dialect.name, admission: admitted });
    progress.meter = meter;
    const guarded = isSame(guarding, admitted)
      ? guarding
      : await guardEmbeddings(services, { ctx, principal: admitted.principal, request, progress });
    meter.guard = guarded?.guard;
    const admission =
      guarded === undefined ? admitted : { ...admitted, plan: { ...admitted.plan, toSend: guarded.request } };
    const collected = await collectEmbeddings(services, { ctx, admission, httpRequest, meter });
    return await respondEmbeddings(services, { dialect, ctx, admission, meter, decoded, collected, claim });
  } catch (cause) {
    return await handleRefusal(services, { dialect: dialect.name, envelope: dialect, progress, cause });
  } finally {
    underWay.end();
  }
}

async function withDigest(request: EmbeddingRequest): Promise<EmbeddingRequest> {
  return { ...request, digest: await digestEmbeddingRequest(request) };
}
