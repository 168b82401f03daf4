// A failed call ends the attempt with the cost of earlier calls and cancels the others.
import { mapInSlices } from '@llm0/core/async/time-slices';
import type { JsonValue } from '@llm0/core/chat/json';
import type { JsonBounds } from '@llm0/core/chat/json-bounds';
import { type EmbeddingInput, type EmbeddingRequest, weighInputs } from '@llm0/core/embedding/embedding-request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { guessTokens } from '@llm0/core/pricing/estimate-cost';
import type { EmbeddingAnswer, EmbeddingsPart } from '../embeddings';
import type { Provider } from '../provider';
import { ParsedAnswer, prepareAnswer } from '../translation/read-json';
import { readVector } from '../translation/read-vector';
import { askEndpoint, type EndpointCall, readAll } from './ask-endpoint';
import { mayBeBilled, upstreamFailure } from './upstream-failure';

/** A provider that makes embeddings. */
export type EmbeddingProvider = Provider & { readonly embeddings: EmbeddingsPart };

export function makesEmbeddings(provider: Provider): provider is EmbeddingProvider {
  return provider.embeddings !== undefined;
}

export interface EmbeddingCall extends EndpointCall {
  readonly provider: EmbeddingProvider;
  readonly request: EmbeddingRequest;
}

/** Tokens of input, billed or guessed. */
export interface EmbeddedTokens {
  readonly inputTokens: number;
  /** At least a part of it is a guess. */
  readonly estimated: boolean;
}

export interface EmbeddedInputs extends EmbeddedTokens {
  readonly vectors: readonly Float32Array[];
  readonly dropped: readonly string[];
}

/** Failure of an attempt with its cost, interrupted calls included. */
export class EmbeddingFailure extends Error {
  constructor(
    override readonly cause: GatewayError,
    readonly billed: EmbeddedTokens,
  ) {
    super(cause.message);
  }
}

/** Calls of one request under way at once, where a vendor takes few inputs at a time. */
const PARALLEL_CALLS = 4;

/** One attempt at one provider; throws `EmbeddingFailure`. */
export async function callEmbeddings(call: EmbeddingCall): Promise<EmbeddedInputs> {
  const endMs = performance.now() + call.timeoutMs;
  const parts = splitInputs(call.request.inputs, Math.max(1, call.provider.embeddings.maxInputs(call.context.model)));
  const answers: (PartAnswer | undefined)[] = parts.map(() => undefined);
  const stop = new AbortController();
  const signal = AbortSignal.any([call.signal, stop.signal]);
  const lost: EmbeddedTokens[] = [];
  let next = 0;
  let failure: unknown;
  const work = async () => {
    for (let index = next++; failure === undefined; index = next++) {
      const inputs = parts[index];
      if (inputs === undefined) return;
      let isSent = false;
      const onSend = () => {
        isSent = true;
        call.onSend?.();
      };
      try {
        const request = { ...call.request, inputs };
        const timeoutMs = Math.max(1, endMs - performance.now());
        answers[index] = await askPart({ ...call, request, signal, timeoutMs, onSend });
      } catch (error) {
        if (isSent && mayBeBilled(error, call.provider.name)) lost.push(guessPart(inputs));
        failure ??= error;
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_CALLS, parts.length) }, work));
  const done = answers.filter((answer) => answer !== undefined);
  if (failure instanceof GatewayError) throw new EmbeddingFailure(failure, sumTokens([...done, ...lost]));
  if (failure !== undefined) throw failure;
  return {
    vectors: done.flatMap(({ vectors }) => vectors),
    dropped: done[0]?.dropped ?? [],
    ...sumTokens(done),
  };
}

type PartAnswer = EmbeddedInputs;

function guessPart(inputs: readonly EmbeddingInput[]): EmbeddedTokens {
  const { textBytes, tokens } = weighInputs(inputs);
  return { inputTokens: guessTokens(textBytes) + tokens, estimated: true };
}

function sumTokens(answers: readonly EmbeddedTokens[]): EmbeddedTokens {
  return {
    inputTokens: answers.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    estimated: answers.some(({ estimated }) => estimated),
  };
}

function splitInputs(inputs: readonly EmbeddingInput[], size: number): (readonly EmbeddingInput[])[] {
  return Array.from({ length: Math.ceil(inputs.length / size) }, (_, i) => inputs.slice(i * size, (i + 1) * size));
}

function askPart(call: EmbeddingCall): Promise<PartAnswer> {
  const { provider, request } = call;
  const { embeddings } = provider;
  return askEndpoint(call, {
    encode: (context) => embeddings.encodeRequest(request, context),
    read: async (fetched) => {
      const body = await prepareAnswer(await readAll(call, fetched), boundsOf(request));
      const answer = embeddings.decodeResponse(body, fetched.response.headers);
      checkAnswer(call, answer);
      const read = (one: JsonValue | undefined) => readVector(provider.name, one);
      const { encoded, inputTokens } = answer;
      const vectors = body instanceof ParsedAnswer ? await mapInSlices(encoded, read) : encoded.map(read);
      const tokens = inputTokens === undefined ? guessPart(request.inputs) : { inputTokens, estimated: false };
      return { vectors, dropped: fetched.dropped, ...tokens };
    },
  });
}

/** Default dimensions of a vector: more than any model has. */
const MOST_DIMENSIONS = 16_384;
/** Fields and lists around each vector, and around them all. */
const PARTS = { each: 32, beside: 1_000 };

function boundsOf({ inputs, dimensions = MOST_DIMENSIONS }: EmbeddingRequest): JsonBounds {
  const maxParts = PARTS.each * inputs.length + PARTS.beside;
  return { maxParts, maxTokens: 2 * inputs.length * dimensions + 4 * maxParts };
}

function checkAnswer({ provider, request }: EmbeddingCall, { encoded }: EmbeddingAnswer): void {
  if (encoded.length === request.inputs.length) return;
  const message = `sent ${encoded.length} embeddings for ${request.inputs.length} inputs.`;
  throw upstreamFailure('malformed', provider.name, message);
}
