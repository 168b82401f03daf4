// Hot store unreachable: as for chat. Cached inputs that can't be read count as unknown, and are embedded anew.
import type { AnswerClaim } from '@llm0/core/cache/idempotency/idempotent-answers';
import type { StoredEmbedding } from '@llm0/core/cache/stored-embedding';
import type { JsonObject } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { openaiEmbeddings } from '../../dialects/openai-embeddings/index';
import type { Services } from '../../services/contract';
import { type AdmitInput, admitPlanned } from '../exchange/admit';
import { type Authenticated, authenticate } from '../exchange/authenticate';
import { hasIdempotencyKey, NO_TURN, type Turn, takeTurn } from '../exchange/idempotency';
import { type Exchange, openExchange } from '../exchange/open-exchange';
import { readRequestBody } from '../exchange/read-request';
import { asGatewayError, respondError } from '../exchange/respond-error';
import { addCostHeaders, responseHeaders } from '../exchange/response-headers';
import { Booking } from '../ledger/booking';
import { errorOutcome } from '../ledger/build-record';
import { recordRefusal } from '../ledger/record-refusal';
import { collectEmbeddings, type EmbeddingAdmission, withKnown } from './collect-embeddings';
import type { UpstreamEmbeddings } from './embed-upstream';
import { EMBEDDINGS, type EmbeddingJob, planEmbeddings } from './plan-embeddings';

type Decoded = ReturnType<typeof openaiEmbeddings.decodeRequest>;

/** What is known of a request when it fails. */
interface Progress {
  exchange?: Exchange;
  principal?: Authenticated;
  requestedModel?: string;
  admission?: EmbeddingAdmission;
  booking?: Booking;
  claim?: AnswerClaim<readonly StoredEmbedding[]>;
}

const NONE_KNOWN: EmbeddingJob['known'] = new Map();
const DIALECT = openaiEmbeddings.name;

/** `POST /v1/embeddings` */
export async function handleEmbeddings(services: Services, httpRequest: Request): Promise<Response> {
  const progress: Progress = {};
  const release = services.activity.enter();
  try {
    const exchange = openExchange(services, httpRequest);
    progress.exchange = exchange;
    const principal = await authenticate(services, httpRequest);
    progress.principal = principal;
    const body = await readRequestBody(services, httpRequest);
    if (typeof body.model === 'string') progress.requestedModel = body.model;
    const decoded = openaiEmbeddings.decodeRequest(body);
    const { request } = decoded;
    const job = { model: request.model, request, known: NONE_KNOWN };
    const input = { exchange, principal, dialect: DIALECT, request: job };
    const turn = hasIdempotencyKey(httpRequest)
      ? await claimEmbeddings(services, input, { httpRequest, body })
      : NO_TURN;
    progress.claim = turn.claim;
    const admission = turn.replay ?? (await admitPlanned(services, await withKnown(services, input), EMBEDDINGS));
    progress.principal = admission.principal;
    progress.admission = admission;
    const booking = new Booking(services, { exchange, dialect: DIALECT, ...admission });
    progress.booking = booking;
    return await respondEmbeddings(services, {
      ...{ exchange, admission, booking, decoded, httpRequest },
      claim: turn.claim,
    });
  } catch (cause) {
    return await refuse(services, progress, asGatewayError(cause, services.log));
  } finally {
    release();
  }
}

type EmbeddingTurn = Turn<readonly StoredEmbedding[], EmbeddingAdmission>;

/** A replay is a request all of whose inputs are known. */
function claimEmbeddings(
  services: Services,
  input: AdmitInput<EmbeddingJob>,
  { httpRequest, body }: { readonly httpRequest: Request; readonly body: JsonObject },
): Promise<EmbeddingTurn> {
  const { exchange, principal, request: job } = input;
  return takeTurn(services, {
    answers: services.idempotentEmbeddings,
    ...{ exchange, principal, httpRequest, identity: [DIALECT, body] },
    admitReplay: (entries, reloaded) => ({
      principal: reloaded,
      plan: planEmbeddings(services, {
        ...{ exchange, principal: reloaded, dialect: DIALECT },
        request: { ...job, known: new Map(entries.entries()) },
      }),
      decision: { type: 'replayed', nowMs: services.storeClock.nowMs() },
      downgraded: false,
      requestedModel: job.model,
    }),
  });
}

interface Served {
  readonly exchange: Exchange;
  readonly admission: EmbeddingAdmission;
  readonly booking: Booking;
  readonly decoded: Decoded;
  readonly httpRequest: Request;
  readonly claim: AnswerClaim<readonly StoredEmbedding[]>;
}

async function respondEmbeddings(services: Services, served: Served): Promise<Response> {
  const { exchange, admission, booking, decoded } = served;
  const { entries, upstream, usage, costNanoUsd, fresh } = await collectEmbeddings(services, served);
  const [first] = entries;
  const target = upstream?.target ?? first ?? admission.plan.route.targets[0];
  const isHit = upstream === undefined && admission.decision.type !== 'replayed';
  const cache = isHit ? 'exact' : 'miss';
  const latencyMs = services.clock.monotonicMs() - exchange.startMs;
  const overheadMs = Math.max(0, latencyMs - (upstream?.waitMs ?? 0));
  const known = upstream === undefined ? entries : [...admission.plan.known.values()];
  const [only, ...others] = fresh;
  booking.settle(
    {
      ...describe(admission, target),
      ...{ usage, costNanoUsd, cache },
      costDetail: upstream && { input: costNanoUsd - upstream.wastedNanoUsd, ...wasteOf(upstream) },
      savedNanoUsd: known.reduce((sum, entry) => sum + entry.costNanoUsd, 0),
      timing: { latencyMs, overheadMs, upstreamMs: upstream?.waitMs ?? 0, ttftMs: latencyMs },
      attempts: upstream?.attempts ?? [],
      failoverCount: upstream?.failoverCount ?? 0,
      ...{ status: 'success', httpStatus: 200 },
    },
    { tokens: upstream?.inputTokens ?? 0, cache: only },
  );
  for (const entry of others) services.hotStore.cacheWrite(admission.principal.project.id, entry);
  const dropped = upstream?.dropped ?? [];
  const answered = { target, cache, dropped, failoverCount: upstream?.failoverCount ?? 0 } as const;
  const headers = responseHeaders(exchange, admission, answered, overheadMs);
  addCostHeaders(headers, { usage, costNanoUsd });
  headers['Content-Type'] = 'application/json';
  keepBodies(services, served, usage);
  const answer = openaiEmbeddings.encodeResponse(
    {
      model: target.model,
      vectorsBase64: entries.map(({ vectorBase64 }) => vectorBase64),
      promptTokens: usage.inputTokens,
      ...{ costNanoUsd, latencyMs },
    },
    decoded.format,
  );
  const kept = served.claim.complete(() => entries);
  if (kept !== undefined) await kept;
  if (booking.handedOver !== undefined) await booking.handedOver;
  return new Response(answer, { headers });
}

const wasteOf = ({ wastedNanoUsd }: UpstreamEmbeddings) =>
  wastedNanoUsd === 0 ? {} : { other_attempts: wastedNanoUsd };

function describe({ requestedModel, plan }: EmbeddingAdmission, answered?: { provider: string; model: string }) {
  const [first] = plan.route.targets;
  return {
    requestedModel,
    stream: false,
    provider: first.provider,
    finalProvider: answered?.provider,
    model: answered?.model ?? first.model,
  };
}

/** Vectors are no text: of the answer only the usage is kept. */
function keepBodies(services: Services, { exchange, admission }: Served, usage: Usage): void {
  const { request } = admission.plan;
  services.bodyLog.keep(() => ({
    requestId: exchange.requestId,
    projectId: admission.principal.project.id,
    createdAtMs: admission.decision.nowMs,
    request: { ...request.extra, model: request.model, input: request.inputs, dimensions: request.dimensions },
    response: JSON.stringify({ object: 'list', usage: { prompt_tokens: usage.inputTokens } }),
  }));
}

/** Every request that passed auth leaves a row, refused ones too. */
async function refuse(services: Services, progress: Progress, error: GatewayError): Promise<Response> {
  const { exchange, principal, requestedModel, booking, admission, claim } = progress;
  if (error.kind === 'client_closed') claim?.release();
  else claim?.fail(error);
  if (booking !== undefined && admission !== undefined && exchange !== undefined) {
    bookFailure(services, { exchange, admission, booking, error });
    await booking.handedOver;
  } else if (exchange !== undefined && principal !== undefined) {
    await recordRefusal(services, { dialect: DIALECT, exchange, principal, requestedModel, error });
  }
  return respondError(error, {
    requestId: exchange?.requestId ?? services.createId(),
    dialect: openaiEmbeddings,
    projectCapNanoUsd: principal?.project.monthlyCapNanoUsd,
  });
}

function bookFailure(
  services: Pick<Services, 'clock'>,
  failed: Pick<Served, 'exchange' | 'admission' | 'booking'> & { readonly error: GatewayError },
): void {
  const { exchange, admission, booking, error } = failed;
  const attempts = (error.attempts ?? []).map(({ failure, startMs = 0, ...attempt }) => ({
    ...attempt,
    outcome: failure,
    startMs,
  }));
  const wasted = attempts.reduce((sum, { costNanoUsd = 0 }) => sum + costNanoUsd, 0);
  booking.settle(
    {
      ...describe(admission),
      usage: ZERO_USAGE,
      costNanoUsd: wasted,
      costDetail: wasted > 0 ? { other_attempts: wasted } : undefined,
      savedNanoUsd: 0,
      timing: { latencyMs: services.clock.monotonicMs() - exchange.startMs },
      ...{ cache: 'miss', attempts, failoverCount: 0 },
      ...errorOutcome(error),
    },
    { tokens: 0 },
  );
}
