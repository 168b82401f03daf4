// Hot store unreachable: as for chat. Cached inputs that can't be read count as unknown, and are embedded anew.
import type { AnswerClaim } from '@llm0/core/cache/idempotency/idempotent-answers';
import type { StoredEmbedding } from '@llm0/core/cache/stored-embedding';
import type { JsonObject } from '@llm0/core/chat/json';
import type { DecodedEmbeddingRequest, EmbeddingDialect } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { type AdmitInput, admitPlanned } from '../exchange/admit';
import { authenticate } from '../exchange/authenticate';
import { type Claimed, claimOrReplay, hasIdempotencyKey, UNCLAIMED } from '../exchange/idempotency';
import { type Exchange, openExchange } from '../exchange/open-exchange';
import { readRequestBody } from '../exchange/read-request';
import { addCostHeaders, responseHeaders } from '../exchange/response-headers';
import { type Progress, refuseRequest } from '../refuse-request';
import { collectEmbeddings, type EmbeddingAdmission, withKnown } from './collect-embeddings';
import { EmbeddingMeter } from './embedding-meter';
import { EMBEDDINGS, type EmbeddingJob, planEmbeddings } from './plan-embeddings';

const NONE_KNOWN: EmbeddingJob['known'] = new Map();

/** `POST /v1/embeddings` */
export async function handleEmbeddings(
  services: Services,
  dialect: EmbeddingDialect,
  httpRequest: Request,
): Promise<Response> {
  const progress: Progress = {};
  const release = services.activity.enter();
  try {
    const exchange = openExchange(services, httpRequest);
    progress.exchange = exchange;
    const principal = await authenticate(services, httpRequest);
    progress.principal = principal;
    const body = await readRequestBody(services, httpRequest);
    if (typeof body.model === 'string') progress.requestedModel = body.model;
    const decoded = dialect.decodeRequest(body);
    const { request } = decoded;
    const job = { model: request.model, request, known: NONE_KNOWN };
    const input = { exchange, principal, dialect: dialect.name, request: job };
    const claimed = hasIdempotencyKey(httpRequest)
      ? await claimEmbeddings(services, input, { httpRequest, body })
      : UNCLAIMED;
    const { claim } = claimed;
    progress.claim = claim;
    const admission = claimed.replay ?? (await admitPlanned(services, await withKnown(services, input), EMBEDDINGS));
    progress.principal = admission.principal;
    const meter = new EmbeddingMeter(services, { exchange, dialect: dialect.name, admission });
    progress.meter = meter;
    return await respondEmbeddings(services, { dialect, exchange, admission, meter, decoded, httpRequest, claim });
  } catch (cause) {
    return await refuseRequest(services, { dialect: dialect.name, envelope: dialect, progress, cause });
  } finally {
    release();
  }
}

/** A replay is a request all of whose inputs are known. */
function claimEmbeddings(
  services: Services,
  input: AdmitInput<EmbeddingJob>,
  { httpRequest, body }: { readonly httpRequest: Request; readonly body: JsonObject },
): Promise<Claimed<readonly StoredEmbedding[], EmbeddingAdmission>> {
  return claimOrReplay(services, {
    ...{ answers: services.idempotentEmbeddings, input, httpRequest, identity: [input.dialect, body] },
    planReplay: (entries, principal) => ({
      plan: planEmbeddings(services, {
        ...{ ...input, principal },
        request: { ...input.request, known: new Map(entries.entries()) },
      }),
    }),
  });
}

interface Served {
  readonly dialect: EmbeddingDialect;
  readonly exchange: Exchange;
  readonly admission: EmbeddingAdmission;
  readonly meter: EmbeddingMeter;
  readonly decoded: DecodedEmbeddingRequest;
  readonly httpRequest: Request;
  readonly claim: AnswerClaim<readonly StoredEmbedding[]>;
}

async function respondEmbeddings(services: Services, served: Served): Promise<Response> {
  const { dialect, exchange, admission, meter, decoded } = served;
  const collected = await collectEmbeddings(services, served);
  const { entries, upstream, usage, costNanoUsd } = collected;
  const { target, cache, latencyMs, overheadMs } = meter.complete(collected);
  const source = { target, cache, dropped: upstream?.dropped ?? [], failoverCount: upstream?.failoverCount ?? 0 };
  const headers = responseHeaders(exchange, admission, source, overheadMs);
  addCostHeaders(headers, { usage, costNanoUsd });
  headers['Content-Type'] = 'application/json';
  const vectorsBase64 = entries.map(({ vectorBase64 }) => vectorBase64);
  const summary = { model: target.model, vectorsBase64, promptTokens: usage.inputTokens, costNanoUsd, latencyMs };
  const text = dialect.encodeResponse(summary, decoded.format);
  const kept = served.claim.complete(() => entries);
  keepBodies(services, served, usage.inputTokens);
  if (kept !== undefined) await kept;
  if (meter.handedOver !== undefined) await meter.handedOver;
  return new Response(text, { headers });
}

/** Vectors are no text: of the answer only the usage is kept. */
function keepBodies(services: Services, { exchange, admission }: Served, promptTokens: number): void {
  const { request } = admission.plan;
  services.bodyLog.keep(() => ({
    requestId: exchange.requestId,
    projectId: admission.principal.project.id,
    createdAtMs: admission.decision.nowMs,
    request: { ...request.extra, model: request.model, input: request.inputs, dimensions: request.dimensions },
    response: JSON.stringify({ object: 'list', usage: { prompt_tokens: promptTokens } }),
  }));
}
