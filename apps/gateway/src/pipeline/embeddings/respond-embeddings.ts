import type { CachedEmbedding } from '@llm0/core/cache/cached-embedding';
import type { IdempotencyClaim } from '@llm0/core/cache/idempotency/idempotency-keys';
import { LARGE_JSON_LENGTH } from '@llm0/core/chat/json-in-slices';
import type { DecodedEmbeddingRequest, EmbeddingDialect } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { givenBodies } from '../metering/logged-bodies';
import type { RequestContext } from '../request/open-context';
import { addCostHeaders, responseHeaders } from '../request/response-headers';
import type { CollectedEmbeddings, EmbeddingAdmission } from './collect-embeddings';
import type { EmbeddingMeter } from './embedding-meter';

export interface Served {
  readonly dialect: EmbeddingDialect;
  readonly ctx: RequestContext;
  readonly admission: EmbeddingAdmission;
  readonly meter: EmbeddingMeter;
  readonly decoded: DecodedEmbeddingRequest;
  readonly collected: CollectedEmbeddings;
  readonly claim: IdempotencyClaim<readonly CachedEmbedding[]>;
}

/** Builds the caller's answer: settles it and stores it for replays. */
export async function respondEmbeddings(services: Pick<Services, 'bodyLog'>, served: Served): Promise<Response> {
  const { dialect, ctx, admission, meter, decoded, collected } = served;
  const { entries, upstream, usage, costNanoUsd } = collected;
  const { target, cache, latencyMs, overheadMs } = meter.complete(collected);
  const source = {
    target,
    cache,
    dropped: upstream?.dropped ?? [],
    failoverCount: upstream?.failoverCount ?? 0,
    attempts: upstream?.attempts,
  };
  const headers = responseHeaders(ctx, admission, source, overheadMs);
  addCostHeaders(headers, { usage, costNanoUsd });
  headers['Content-Type'] = 'application/json';
  const vectorsBase64 = entries.map(({ vectorBase64 }) => vectorBase64);
  const summary = { model: target.model, vectorsBase64, promptTokens: usage.inputTokens, costNanoUsd, latencyMs };
  const isLarge = vectorsBase64.length * (vectorsBase64[0]?.length ?? 0) > LARGE_JSON_LENGTH;
  const body = isLarge
    ? await dialect.encodeLargeResponse(summary, decoded.format)
    : dialect.encodeResponse(summary, decoded.format);
  const kept = served.claim.complete(() => entries);
  keepBodies(services, served, usage.inputTokens);
  if (kept !== undefined) await kept;
  if (meter.handedOver !== undefined) await meter.handedOver;
  return new Response(body, { headers });
}

/** Vectors aren't text: of the answer, only the usage is stored. */
function keepBodies(services: Pick<Services, 'bodyLog'>, served: Served, promptTokens: number): void {
  const { model, inputs: input, dimensions, extra } = served.admission.plan.request;
  const response = JSON.stringify({ object: 'list', usage: { prompt_tokens: promptTokens } });
  services.bodyLog.keep(() => givenBodies(served, { ...extra, model, input, dimensions }, response));
}
