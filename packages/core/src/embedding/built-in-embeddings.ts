// If the worker fails or is overloaded, the request fails with one clear error and no retry.
import { clientClosed, GatewayError } from '../errors/gateway-error';
import type { EmbedFailure, EmbedOutcome } from './embedder';
import type { EmbeddingRequest } from './embedding-request';

/** The model that is in this repository, as requests name it. */
export const BUILT_IN = { provider: 'local', model: 'all-MiniLM-L6-v2', dimensions: 384 } as const;

/** A worker that embeds texts in any language; loads its model with the first one. */
export interface TextEmbedder {
  embed(text: string, deadlineMs: number, anyLanguage: boolean): Promise<EmbedOutcome>;
}

export interface BuiltInJob {
  readonly request: EmbeddingRequest;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Place of a text in the request; else `input.<index>`. */
  readonly placeOf?: (index: number) => string;
}

export interface BuiltInAnswer {
  readonly vectors: readonly Float32Array[];
  readonly inputTokens: number;
}

/** Texts of one request that wait in the worker at once: others get their turn between them. */
const AT_ONCE = 2;

/** One vector for each text; throws for texts that the model can't take. */
export async function embedBuiltIn(embedder: TextEmbedder, job: BuiltInJob): Promise<BuiltInAnswer> {
  const { placeOf = (index: number) => `input.${index}` } = job;
  const texts = readTexts(job.request);
  const endMs = performance.now() + job.timeoutMs;
  const vectors: Float32Array[] = [];
  let inputTokens = 0;
  for (let start = 0; start < texts.length; start += AT_ONCE) {
    if (job.signal.aborted) throw clientClosed();
    const leftMs = Math.max(1, endMs - performance.now());
    const group = texts.slice(start, start + AT_ONCE);
    const outcomes = await Promise.all(group.map((text) => embedder.embed(text, leftMs, true)));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.type === 'none') throw noVector(outcome.reason, placeOf(start + index));
      vectors.push(outcome.vector);
      inputTokens += outcome.tokens ?? 0;
    }
  }
  return { vectors, inputTokens };
}

function readTexts({ inputs, dimensions, extra }: EmbeddingRequest): readonly string[] {
  const unknown = Object.keys(extra)[0];
  if (unknown !== undefined) throw unsupportedHere(unknown, 'is not understood by');
  if (dimensions !== undefined && dimensions !== BUILT_IN.dimensions) {
    throw unsupportedHere('dimensions', `must be ${BUILT_IN.dimensions} for`);
  }
  return inputs.map((input) => {
    if (typeof input === 'string') return input;
    throw unsupportedHere('input', 'must be text, not tokens, for');
  });
}

/** For parameters that the built-in model doesn't take. */
export function unsupportedHere(param: string, reason: string): GatewayError {
  const message = `"${param}" ${reason} ${BUILT_IN.provider}/${BUILT_IN.model}.`;
  return new GatewayError('unsupported_parameter', message, { param });
}

const REASONS = {
  too_long: { kind: 'invalid_request', message: 'is longer than the 512 tokens that the built-in model takes.' },
  language: { kind: 'invalid_request', message: 'is in a language that the built-in model does not take.' },
  late: { kind: 'upstream_timeout', message: 'could not be embedded in time. Send fewer texts at once.' },
  busy: { kind: 'overloaded', message: 'could not be embedded now: the built-in model has too much to do.' },
  failed: { kind: 'upstream_error', message: 'could not be embedded: the built-in model failed.' },
} as const satisfies Record<EmbedFailure, { kind: GatewayError['kind']; message: string }>;

function noVector(reason: EmbedFailure, param: string): GatewayError {
  const { kind, message } = REASONS[reason];
  const retryAfterMs = kind === 'overloaded' ? 1000 : undefined;
  return new GatewayError(kind, `"${param}" ${message}`, { param, retryAfterMs });
}
