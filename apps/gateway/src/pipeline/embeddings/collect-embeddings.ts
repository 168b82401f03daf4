import { mapInSlices } from '@llm0/core/async/time-slices';
import { type CachedEmbedding, decodeCachedEmbedding, encodeCachedEmbedding } from '@llm0/core/cache/cached-embedding';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { type EmbeddingInput, weighInputs } from '@llm0/core/embedding/embedding-request';
import type { CacheWrite } from '@llm0/core/limits/hot-store';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { guessTokens } from '@llm0/core/pricing/estimate-cost';
import type { Services } from '../../services/contract';
import { type Booking, cacheTtlMs } from '../metering/booking';
import type { Admission, AdmitInput } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import { flightKey, shareCall } from '../upstream/share-call';
import { type EmbedNeeds, embedUpstream, type UpstreamEmbeddings } from './embed-upstream';
import { type EmbeddingJob, type EmbeddingPlan, planEmbeddings } from './plan-embeddings';

export type EmbeddingAdmission = Admission<EmbeddingPlan, CachedEmbedding>;

/** Larger batches are indexing: their inputs would push everything else out of the cache. */
const MAX_CACHED_INPUTS = 256;

/** Asks the cache for the inputs of a batch; a single input is asked for by the decision itself. */
export async function withKnown(
  services: Pick<Services, 'routing' | 'connect' | 'hotStore'>,
  input: AdmitInput<EmbeddingJob>,
): Promise<AdmitInput<EmbeddingJob>> {
  const { ctx, principal, request: job } = input;
  const count = job.request.inputs.length;
  if (count === 1 || count > MAX_CACHED_INPUTS || ctx.controls.cache !== 'normal') return input;
  const { keys } = planEmbeddings(services, input);
  if (keys === undefined) return input;
  const values = await services.hotStore.cacheRead(principal.project.id, keys);
  const known = new Map<number, CachedEmbedding>();
  for (const [index, value] of values.entries()) {
    const stored = value === undefined ? undefined : decodeCachedEmbedding(value);
    if (stored !== undefined) known.set(index, stored);
  }
  return known.size === 0 ? input : { ...input, request: { ...job, known } };
}

/** A request's result per input, and its cost. */
export interface CollectedEmbeddings {
  readonly entries: readonly CachedEmbedding[];
  /** Absent where the cache had everything. */
  readonly upstream?: UpstreamEmbeddings;
  readonly usage: Usage;
  readonly costNanoUsd: number;
  /** Entries of inputs that were embedded just now, for the cache. */
  readonly fresh: readonly CacheWrite[];
}

export interface CollectInput {
  readonly ctx: RequestContext;
  readonly admission: EmbeddingAdmission;
  readonly httpRequest: Request;
  /** Called with the call, which may cost without an answer. */
  readonly meter: Pick<Booking, 'watch'>;
}

/** The cache's part and the vendor's part of one answer, put together in the order of the inputs. */
export async function collectEmbeddings(
  services: EmbedNeeds & Pick<Services, 'flights'>,
  { ctx, admission, httpRequest, meter }: CollectInput,
): Promise<CollectedEmbeddings> {
  const { plan, stored, principal } = admission;
  if (stored !== undefined && plan.request.inputs.length === 1) return fromCache([stored]);
  if (plan.missing.length === 0) return fromCache([...plan.known.values()]);
  const request = plan.toSend ?? plan.request;
  const inputs = plan.missing.map((index) => request.inputs[index] as EmbeddingInput);
  const job = {
    projectId: principal.project.id,
    request: { ...request, inputs },
    route: plan.route,
    dropParams: plan.dropParams,
    maxAttempts: plan.maxAttempts,
    startMs: ctx.startMs,
    timed: { isPlain: true, atMostMs: ctx.controls.timeoutMs },
    trace: ctx.trace,
    room: ctx.held,
  };
  const call = shareCall(services, {
    key: flightKey(callKey(ctx, plan), plan.route),
    signal: httpRequest.signal,
    hold: () => ctx.held.share(),
    start: (signal) => embedUpstream(services, { ...job, signal }),
  });
  meter.watch(call);
  const upstream = await call.response;
  const { priced, provider, model } = upstream.target;
  const billed: Usage = { ...ZERO_USAGE, inputTokens: upstream.inputTokens };
  const costNanoUsd = priced === undefined ? 0 : computeCost(billed, priced).costNanoUsd;
  const isMany = inputs.length > MAX_CACHED_INPUTS;
  const weights = isMany ? await mapInSlices(inputs, weightOf) : inputs.map(weightOf);
  const shares = shareOut(weights, { tokens: upstream.inputTokens, costNanoUsd });
  const make = (index: number, position: number): [number, CachedEmbedding] => {
    const vectorBase64 = toBase64(upstream.vectors[position] ?? new Float32Array());
    return [index, { provider, model, vectorBase64, ...(shares[position] ?? NO_SHARE) }];
  };
  const made = new Map(isMany ? await mapInSlices(plan.missing, make) : plan.missing.map(make));
  const entries = plan.request.inputs.flatMap((_input, index) => plan.known.get(index) ?? made.get(index) ?? []);
  if (!call.pays()) return fromCache(entries);
  return {
    ...{ entries, upstream },
    usage: {
      ...ZERO_USAGE,
      inputTokens: sumTokens(entries),
      ...(upstream.estimated || upstream.wasteEstimated === true ? { estimated: true } : {}),
    },
    costNanoUsd: costNanoUsd + upstream.wastedNanoUsd,
    fresh: cacheWrites(services, { ctx, admission, made }),
  };
}

/** Of a batch that the cache would have answered a moment later. */
function callKey({ controls }: RequestContext, { keys, missing }: EmbeddingPlan): string | undefined {
  if (keys === undefined || controls.cache !== 'normal' || missing.length > MAX_CACHED_INPUTS) return undefined;
  return missing.map((index) => keys[index]).join(' ');
}

const sumTokens = (entries: readonly CachedEmbedding[]) => entries.reduce((sum, { tokens }) => sum + tokens, 0);

function fromCache(entries: readonly CachedEmbedding[]): CollectedEmbeddings {
  return { entries, usage: { ...ZERO_USAGE, inputTokens: sumTokens(entries) }, costNanoUsd: 0, fresh: [] };
}

const toBase64 = ({ buffer, byteOffset, byteLength }: Float32Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

const NO_SHARE = { tokens: 0, costNanoUsd: 0 };

function weightOf(input: EmbeddingInput): number {
  const { textBytes, tokens } = weighInputs([input]);
  return Math.max(1, guessTokens(textBytes) + tokens);
}

/** Splits the billed usage among the inputs by length; the parts add up to the whole. */
function shareOut(weights: readonly number[], whole: typeof NO_SHARE): readonly (typeof NO_SHARE)[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let passed = 0;
  const upTo = (amount: number) => Math.round((amount * passed) / total);
  return weights.map((weight) => {
    const before = { tokens: upTo(whole.tokens), cost: upTo(whole.costNanoUsd) };
    passed += weight;
    return { tokens: upTo(whole.tokens) - before.tokens, costNanoUsd: upTo(whole.costNanoUsd) - before.cost };
  });
}

function cacheWrites(
  services: Pick<Services, 'config'>,
  given: Pick<CollectInput, 'ctx' | 'admission'> & { readonly made: ReadonlyMap<number, CachedEmbedding> },
): readonly CacheWrite[] {
  const { keys, request } = given.admission.plan;
  if (keys === undefined || request.inputs.length > MAX_CACHED_INPUTS) return [];
  return [...given.made].flatMap(([index, entry]) => {
    const key = keys[index];
    const value = encodeCachedEmbedding(entry);
    if (key === undefined || value.length > services.config.cacheMaxBodyBytes) return [];
    const ttlMs = cacheTtlMs(services, given, entry);
    return [{ key, value, ttlMs, provider: entry.provider, model: entry.model }];
  });
}
