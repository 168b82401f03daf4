// Any failure of the upstream ends the attempt with one `GatewayError`; trying again is the pipeline's decision.
import { nextTurn } from '@llm0/core/async/time-slices';
import type { EventBatch } from '@llm0/core/chat/event';
import { countEvents } from '@llm0/core/chat/input-count';
import { LARGE_JSON_LENGTH } from '@llm0/core/chat/json-in-slices';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError, givenUp } from '@llm0/core/errors/gateway-error';
import { guessInputTokens } from '@llm0/core/pricing/estimate-cost';
import type { Provider, StreamDecoder } from '../provider';
import type { ProviderAnswer, ProviderCall } from '../provider-call';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { type AnswerBody, CHAT_BOUNDS, LOGPROBS_BOUNDS, ParsedAnswer, prepareAnswer } from '../translation/read-json';
import { askWithKeys } from './ask-with-keys';
import { inlineMedia } from './egress/inline-media';
import { type FetchedAnswer, fetchUpstream } from './fetch-upstream';
import type { KeyRing } from './key-ring';
import { callPrompts } from './prompts/call-prompts';
import { readWhole, UpstreamBody } from './read-body';
import { readFailure } from './read-failure';
import { upstreamFailure } from './upstream-failure';
import { withTrace } from './with-trace';

export { COSTS_AS_USUAL, type Costly, type CostlyUse, findCostly } from '../billing/costly-fields';
export { isUnresolved, KIND_BY_FAILURE, mayBeBilled, upstreamFailure, wasNeverSent } from './upstream-failure';
export type { ProviderAnswer, ProviderCall };

/** Less is not worth counting. */
const SMALL_ANSWER_BYTES = 64 * 1024;
/** An error's own words get at least this long, also where the attempt's time is used up. */
const MIN_ERROR_BODY_MS = 200;

/**
 * One attempt at one provider. Resolves when a 2xx has begun; the answer's content is read through `events`, the same
 * way for streams and plain answers. Throws the provider's refusal or failure.
 */
export function callProvider(call: ProviderCall): Promise<ProviderAnswer> {
  if (call.request.countOnly === true && call.provider.countsTokens !== true) return Promise.resolve(guessCount(call));
  const { prompt } = call.request;
  if (prompt !== undefined) return callPrompts(call, prompt, callKeyed);
  return call.keys === undefined ? callOnce(call) : callWithKeys(call, call.keys);
}

function callKeyed(call: ProviderCall): Promise<ProviderAnswer> {
  return call.keys === undefined ? callOnce(call) : callWithKeys(call, call.keys);
}

function callWithKeys(call: ProviderCall, keys: KeyRing): Promise<ProviderAnswer> {
  const attempt = { provider: call.provider.name, timeoutMs: call.timeoutMs, slots: call.slots };
  return askWithKeys(keys, attempt, (connection, timeoutMs) =>
    callOnce({ ...call, timeoutMs, context: { ...call.context, connection } }),
  );
}

/** For a vendor without counting, the answer is an estimate and marked as one. */
function guessCount({ provider, request }: ProviderCall): ProviderAnswer {
  const events = countEvents({ inputTokens: guessInputTokens(request), estimated: true });
  return wholeAnswer(() => ({ events }), provider.name, { status: 200, dropped: [] });
}

async function callOnce(call: ProviderCall): Promise<ProviderAnswer> {
  const { provider, request } = call;
  const startedMs = performance.now();
  if (request.digest !== undefined) await nextTurn();
  const urls = provider.remoteMedia?.(request);
  // Nothing is sent, and billed, before the caller of this function has the call.
  const context = await (urls?.length ? withMedia(call, urls) : call.context);
  const upstreamRequest = provider.encodeRequest(request, context);
  const { response, bytes } = await send(call, upstreamRequest);
  const headersMs = performance.now() - startedMs;
  const { status } = response;
  if (!response.ok) throw await readError(call, response, headersMs);
  const { dropped } = upstreamRequest;
  if (bytes !== undefined) {
    if (bytes.byteLength > SMALL_ANSWER_BYTES) await call.room?.takeAnswer(bytes.byteLength);
    return wholeAnswer(() => decodeWhole(provider, bytes, request), provider.name, { status, dropped });
  }
  const streamed = isStream(response.headers.get('content-type') ?? '', request);
  const leftMs = Math.max(1, call.timeoutMs - headersMs);
  const body = new UpstreamBody(response.body, {
    provider: provider.name,
    idleTimeoutMs: call.idleTimeoutMs,
    firstTimeoutMs: streamed || !request.stream ? leftMs : undefined,
    maxMs: request.stream ? undefined : leftMs,
    maxBytes: call.maxAnswerBytes,
    room: call.room,
    signal: call.signal,
  });
  const events = streamed
    ? new StreamedAnswer(body, provider.createStreamDecoder(request), provider.name)
    : new WholeAnswer(() => readAnswer(call, body), provider.name, body);
  return { status, dropped, events };
}

async function readAnswer({ provider, request, room }: ProviderCall, body: UpstreamBody): Promise<EventBatch> {
  return decodeAnswer(provider, await prepareAnswer(await readWhole(body, room), boundsOf(request)), request);
}

/** A complete answer: nothing to wait for except slices of a large one. */
function wholeAnswer(
  decode: () => EventBatch | Promise<EventBatch>,
  provider: string,
  { status, dropped }: Omit<ProviderAnswer, 'events' | 'whole'>,
): ProviderAnswer {
  let events: WholeAnswer | undefined;
  return {
    status,
    dropped,
    whole: decode,
    // Created on demand, and the same for every reader.
    get events() {
      events ??= new WholeAnswer(decode, provider);
      return events;
    },
  };
}

function failDecoding(provider: string, error: unknown): never {
  if (error instanceof GatewayError) throw error;
  throw upstreamFailure('malformed', provider, 'sent an answer that could not be read.', error);
}

const boundsOf = ({ logprobs, prompt }: ChatRequest) =>
  logprobs === true || prompt?.logprobs !== undefined ? LOGPROBS_BOUNDS : CHAT_BOUNDS;

/** Small answers at once. */
function decodeWhole(provider: Provider, bytes: Uint8Array, request: ChatRequest): EventBatch | Promise<EventBatch> {
  if (bytes.byteLength > LARGE_JSON_LENGTH) return decodeLarge(provider, bytes, request);
  try {
    return provider.decodeResponse(bytes, request);
  } catch (error) {
    return failDecoding(provider.name, error);
  }
}

async function decodeLarge(provider: Provider, bytes: Uint8Array, request: ChatRequest): Promise<EventBatch> {
  try {
    return decodeAnswer(provider, await prepareAnswer([bytes], boundsOf(request)), request);
  } catch (error) {
    return failDecoding(provider.name, error);
  }
}

function decodeAnswer(provider: Provider, body: AnswerBody, request: ChatRequest): EventBatch {
  const batch = provider.decodeResponse(body, request);
  return body instanceof ParsedAnswer ? Object.assign(batch, { isLarge: true } as const) : batch;
}

/** Fetches media that the vendor can't, to embed them. */
async function withMedia(call: ProviderCall, urls: readonly string[]): Promise<EncodeContext> {
  const media = await inlineMedia(urls, { ...call.egress, ...call });
  return { ...call.context, media };
}

function send(call: ProviderCall, request: UpstreamRequest): Promise<FetchedAnswer> {
  const { provider, signal } = call;
  call.onSend?.(request.body);
  if (provider.respondLocally !== undefined) {
    if (signal.aborted) throw givenUp(signal);
    return provider.respondLocally(request, signal).then((response) => ({ response }));
  }
  return fetchUpstream({
    provider: provider.name,
    request: call.trace === undefined ? request : withTrace(request, call.trace),
    timeoutMs: call.timeoutMs,
    connectTimeoutMs: call.connectTimeoutMs,
    signal,
    fetch: call.fetch,
  });
}

/** The response's content type counts; some answer a stream request with a JSON body. */
function isStream(contentType: string, request: ChatRequest): boolean {
  if (contentType.startsWith('text/event-stream')) return true;
  if (contentType.startsWith('application/json') || contentType.startsWith('text/html')) return false;
  return request.stream;
}

function readError(call: ProviderCall, response: Response, headersMs: number): Promise<GatewayError> {
  const { provider, signal, context } = call;
  const leftMs = Math.max(MIN_ERROR_BODY_MS, call.timeoutMs - headersMs);
  const withinMs = Math.min(call.idleTimeoutMs, leftMs);
  return readFailure(response, { provider, connection: context.connection, signal, withinMs });
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Hand-written iterator: unlike a generator, it frees the upstream even without a first read. */
abstract class AnswerIterator implements AsyncIterableIterator<EventBatch> {
  private ended = false;

  constructor(
    private readonly provider: string,
    private readonly source?: Pick<UpstreamBody, 'close'>,
  ) {}

  /** The next batch with something in it; undefined at the end. */
  protected abstract advance(): Promise<EventBatch | undefined>;

  async next(): Promise<IteratorResult<EventBatch, undefined>> {
    if (this.ended) return END;
    try {
      const batch = await this.advance();
      if (batch?.isLast === true) this.end();
      if (batch !== undefined) return { done: false, value: batch };
    } catch (error) {
      this.end();
      return failDecoding(this.provider, error);
    }
    this.end();
    return END;
  }

  return(): Promise<IteratorResult<EventBatch, undefined>> {
    this.end();
    return Promise.resolve(END);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private end(): void {
    this.ended = true;
    this.source?.close();
  }
}

class StreamedAnswer extends AnswerIterator {
  private exhausted = false;

  constructor(
    private readonly body: UpstreamBody,
    private readonly decoder: StreamDecoder,
    provider: string,
  ) {
    super(provider, body);
  }

  protected async advance(): Promise<EventBatch | undefined> {
    if (this.exhausted) return undefined;
    const { decoder } = this;
    let broken: unknown;
    while (!decoder.done) {
      let batch: EventBatch | undefined;
      if (decoder.hasLarge === true) batch = await decoder.pushLarge?.();
      else {
        let chunk: Uint8Array | undefined;
        try {
          chunk = await this.body.read();
        } catch (error) {
          broken = error;
        }
        if (chunk === undefined) break;
        batch = decoder.push(chunk);
      }
      // Signs of life of the vendor's own are sent on where the format is the caller's.
      if (batch !== undefined && (batch.events.length > 0 || batch.wire !== undefined)) return batch;
    }
    this.exhausted = true;
    const last = this.endDecoder(broken);
    return last.events.length > 0 || last.wire !== undefined ? last : undefined;
  }

  /** A connection that breaks after the answer was complete has taken nothing away: then it counts as its end. */
  private endDecoder(broken: unknown): EventBatch {
    if (broken !== undefined && !(broken instanceof GatewayError && broken.failure === 'connection')) throw broken;
    try {
      return this.decoder.end();
    } catch (error) {
      throw broken ?? error;
    }
  }
}

/** A plain answer: read whole, or there already. */
class WholeAnswer extends AnswerIterator {
  private read = false;

  constructor(
    private readonly decode: () => EventBatch | Promise<EventBatch>,
    provider: string,
    body?: UpstreamBody,
  ) {
    super(provider, body);
  }

  protected async advance(): Promise<EventBatch | undefined> {
    if (this.read) return undefined;
    this.read = true;
    return this.decode();
  }
}
