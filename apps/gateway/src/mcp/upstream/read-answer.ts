// A server that breaks off, is late, sends too much or answers something else fails the call with one `GatewayError`.
import { isObject, type JsonValue } from '@llm0/core/chat/json';
import { findJsonExcess, findJsonExcessInSlices } from '@llm0/core/chat/json-bounds';
import { LARGE_JSON_LENGTH, parseJsonInSlices } from '@llm0/core/chat/json-in-slices';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { SseDecoder, SseEventTooLargeError } from '@llm0/core/sse/decode-sse';
import type { AnswerRoom } from '@llm0/providers/provider-call';
import type { FetchedAnswer } from '@llm0/providers/transport/fetch-upstream';
import { readWhole, UpstreamBody } from '@llm0/providers/transport/read-body';
import { upstreamAnswerError, upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import { type RpcMessage, readRpcMessage } from '../wire/json-rpc';

export interface AnswerOptions {
  readonly alias: string;
  /** Id of the answered request. */
  readonly id: string;
  /** Between two messages, and for a whole JSON answer; in all sixty times as long. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly room?: AnswerRoom | undefined;
  readonly signal: AbortSignal;
}

/** A message with its text. */
export interface ReadMessage {
  readonly message: RpcMessage;
  readonly text: string;
}

const MAX_ERROR_BYTES = 64 * 1024;
const MAX_TIMEOUTS = 60;
/** Values and separators of one message. */
const MESSAGE_BOUNDS = { maxTokens: 2_000_000 };

/** The messages of one HTTP answer, each bounded and checked to be one. */
export class AnswerReader {
  readonly isStream: boolean;
  receivedBytes = 0;
  private readonly body: UpstreamBody | undefined;
  private readonly decoder: SseDecoder;
  private readonly deadline = new AbortController();
  private readonly startedMs = performance.now();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly queue: string[] = [];
  private ended = false;
  private hasGiven = false;

  constructor(
    private readonly fetched: FetchedAnswer,
    private readonly options: AnswerOptions,
  ) {
    const { response, bytes } = fetched;
    const { alias: provider, timeoutMs: idleTimeoutMs, maxBytes, signal } = options;
    this.isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    this.decoder = new SseDecoder(maxBytes);
    if (bytes !== undefined) return;
    const either = AbortSignal.any([signal, this.deadline.signal]);
    this.body = new UpstreamBody(response.body, {
      provider,
      idleTimeoutMs,
      maxBytes,
      room: options.room,
      signal: either,
    });
    this.extend();
  }

  /** undefined where the answer ended. */
  async next(): Promise<ReadMessage | undefined> {
    try {
      const text = this.isStream ? await this.nextEvent() : await this.whole();
      if (text === undefined) return undefined;
      const message = readRpcMessage(await this.parse(text));
      if (message === undefined) throw this.malformed('sent something that is no JSON-RPC message.');
      return { message, text };
    } catch (error) {
      throw this.explain(error);
    }
  }

  close(): void {
    clearTimeout(this.timer);
    this.ended = true;
    this.body?.close();
  }

  private explain(error: unknown): unknown {
    const { alias, timeoutMs, signal } = this.options;
    if (error instanceof SseEventTooLargeError) return this.malformed('sent a message that is too large.');
    if (this.deadline.signal.aborted && !signal.aborted && error instanceof GatewayError) {
      return upstreamFailure('timeout', alias, `did not end its answer within ${timeoutMs} ms.`, error);
    }
    return error;
  }

  private async whole(): Promise<string | undefined> {
    if (this.ended) return undefined;
    this.ended = true;
    const bytes = this.fetched.bytes ?? Buffer.concat(await readWhole(this.body as UpstreamBody, this.options.room));
    clearTimeout(this.timer);
    this.receivedBytes = bytes.byteLength;
    if (bytes.byteLength > this.options.maxBytes) throw this.malformed('sent a message that is too large.');
    return bytes.byteLength === 0 ? undefined : new TextDecoder().decode(bytes);
  }

  private async nextEvent(): Promise<string | undefined> {
    for (;;) {
      const ready = this.queue.shift();
      if (ready !== undefined) return ready;
      if (this.ended) return undefined;
      // Earlier messages are out; the rest is smaller than one message.
      if (this.hasGiven) this.options.room?.giveBackAnswer();
      this.hasGiven = false;
      const chunk = await this.body?.read();
      const events = chunk === undefined ? this.decoder.flush() : this.decoder.push(chunk);
      this.receivedBytes += chunk?.byteLength ?? 0;
      const waiting = this.options.room?.takeAnswer(chunk?.byteLength ?? 0);
      if (waiting !== undefined) await waiting;
      // Events without data only carry an id.
      for (const { data } of events) if (data !== '') this.queue.push(data);
      if (this.queue.length > 0) {
        this.hasGiven = true;
        this.extend();
      }
      if (chunk === undefined) this.ended = true;
    }
  }

  /** Only whole messages count: dripped bytes are as late as none. */
  private extend(): void {
    const { timeoutMs } = this.options;
    const leftMs = this.startedMs + MAX_TIMEOUTS * timeoutMs - performance.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.deadline.abort(), Math.max(0, Math.min(timeoutMs, leftMs)));
  }

  private async parse(text: string): Promise<JsonValue> {
    const isLarge = text.length > LARGE_JSON_LENGTH;
    const excess = isLarge ? await findJsonExcessInSlices(text, MESSAGE_BOUNDS) : findJsonExcess(text, MESSAGE_BOUNDS);
    if (excess !== undefined) throw this.malformed('sent a message that is nested too deeply or holds too much.');
    try {
      return isLarge ? await parseJsonInSlices(text) : (JSON.parse(text) as JsonValue);
    } catch (error) {
      if (error instanceof SyntaxError) throw this.malformed('sent something that is no JSON.');
      throw error;
    }
  }

  private malformed(message: string): GatewayError {
    return upstreamFailure('malformed', this.options.alias, message);
  }
}

/** Meaning of an HTTP refusal, as far as known. */
export interface Refusal {
  readonly status: number;
  readonly error: { readonly code: number; readonly message: string; readonly data?: JsonValue } | undefined;
  readonly failure: GatewayError;
}

/** Reads the answer of a status other than 2xx. Throws `client_closed` only. */
export async function readRefusal(fetched: FetchedAnswer, options: AnswerOptions): Promise<Refusal> {
  const { status } = fetched.response;
  const reader = new AnswerReader(fetched, { ...options, maxBytes: MAX_ERROR_BYTES });
  let error: Refusal['error'];
  try {
    const read = await reader.next();
    if (read?.message.kind === 'response') error = read.message.response.error;
  } catch (cause) {
    if (cause instanceof GatewayError && cause.kind === 'client_closed') throw cause;
  } finally {
    reader.close();
  }
  const message = error?.message ?? '';
  return { status, error, failure: upstreamAnswerError({ provider: options.alias, status, message }) };
}

/** The codes by which a server of the newest revision refuses, which no older one has. */
export const hasModernCode = (error: Refusal['error']): boolean =>
  error !== undefined && error.code <= -32020 && error.code >= -32022;

/** Versions that a server offers instead of the one that it was asked in. */
export function supportedVersions(error: Refusal['error']): readonly string[] {
  const data = error?.data;
  const supported = isObject(data) && Array.isArray(data.supported) ? data.supported : [];
  return supported.filter((version) => typeof version === 'string');
}
