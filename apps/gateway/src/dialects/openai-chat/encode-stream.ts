import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { encodeSse, SSE_DONE } from '@llm0/core/sse/encode-sse';
import type { ResponseSummary, StreamContext, StreamEncoder } from '../dialect';
import { roundMs, withCost } from '../encode-metadata';
import { encodeErrorBody } from './encode-error';
import { encodeFinish } from './encode-response';
import { encodeUsage } from './encode-usage';

const encoder = new TextEncoder();

/** The metadata chunk, and the end of the stream. */
export function encodeLastChunk(chunk: JsonObject, summary: ResponseSummary): Uint8Array {
  const { usage, latencyMs, provider, cache, costNanoUsd } = summary;
  const whole: JsonObject = { ...chunk, usage: encodeUsage(usage), latency_ms: roundMs(latencyMs), provider, cache };
  delete whole.cost_usd;
  return encoder.encode(`data: ${withCost(JSON.stringify(whole), costNanoUsd)}\n\n${SSE_DONE}`);
}

/**
 * Events → chunks for any upstream: role once per choice, deltas, finish, metadata, `[DONE]`. Bytes of the same format
 * pass unchanged. Source: https://platform.openai.com/docs/api-reference/chat/streaming
 */
export class ChatStreamEncoder implements StreamEncoder {
  private id: string;
  private model: string;
  private createdSeconds: number;
  private started = false;
  private readonly rolesSent = new Set<number>();
  private readonly customTools = new Set<string>();
  /** Unknown top-level fields that wait for the next chunk. */
  private pending: Record<string, JsonValue> | undefined;
  private head = '';
  private readonly isUsageAsked: boolean;

  constructor(context: StreamContext) {
    this.id = `chatcmpl-${context.requestId}`;
    this.model = context.model;
    this.createdSeconds = context.createdSeconds;
    this.isUsageAsked = asksForUsage(context.request);
  }

  encode(batch: EventBatch): Uint8Array | null {
    const { wire } = batch;
    if (wire?.kind === 'bytes' && wire.format === 'openai-chat') {
      for (const event of batch.events) {
        if (event.type !== 'text' || !this.rolesSent.has(event.choice)) this.noteForwarded(event);
      }
      return wire.bytes;
    }
    let text = '';
    for (const event of batch.events) {
      const isPlain = event.type === 'text' && this.head !== '' && this.pending === undefined;
      text += isPlain && this.rolesSent.has(event.choice) ? this.encodeText(event) : this.encodeEvent(event);
    }
    return text === '' ? null : encoder.encode(text);
  }

  finish(summary: ResponseSummary): Uint8Array {
    if (!this.started) this.model = summary.model;
    const chunk: JsonObject = {
      ...this.pending,
      id: this.id,
      object: 'chat.completion.chunk',
      created: this.createdSeconds,
      model: this.model,
      // Clients that didn't request usage may read `choices[0]` of every chunk.
      choices: this.isUsageAsked ? [] : [{ index: 0, delta: {}, finish_reason: null }],
    };
    return encodeLastChunk(chunk, summary);
  }

  fail(error: GatewayError): Uint8Array {
    return encoder.encode(encodeSse(JSON.stringify(encodeErrorBody(error))));
  }

  /** Remembers the fields that our later chunks must repeat. */
  private noteForwarded(event: ChatEvent): void {
    if (event.type === 'start') this.start(event);
    else if (event.type !== 'native-item' && 'choice' in event && event.choice !== undefined)
      this.rolesSent.add(event.choice);
  }

  private start(event: Extract<ChatEvent, { type: 'start' }>): void {
    this.id = event.id ?? this.id;
    this.model = event.model ?? this.model;
    this.createdSeconds = event.createdSeconds ?? this.createdSeconds;
    this.started = event.model !== undefined;
    this.head = '';
  }

  /** The same as `encodeEvent`, for nearly all events. */
  private encodeText({ choice, text }: Extract<ChatEvent, { type: 'text' }>): string {
    const content = JSON.stringify(text);
    return `${this.head}{"index":${choice},"delta":{"content":${content}},"finish_reason":null}]}\n\n`;
  }

  private encodeEvent(event: ChatEvent): string {
    if (event.type === 'start') {
      this.start(event);
      return '';
    }
    if (event.type === 'usage' || event.type === 'unread') return '';
    if (event.type === 'raw-message' || event.type === 'native-item') return '';
    if (event.type === 'extra' && event.scope === 'answer') {
      this.pending = { ...this.pending, [event.name]: event.value };
      return '';
    }
    const choice = event.choice ?? 0;
    return this.encodeRole(choice, event) + this.encodeChoice(choice, this.delta(event), choiceFields(event));
  }

  /** The role chunk, ahead of a choice's first event. */
  private encodeRole(choice: number, first: ChatEvent): string {
    if (this.rolesSent.has(choice)) return '';
    this.rolesSent.add(choice);
    return this.encodeChoice(choice, { role: 'assistant', content: first.type === 'tool-call' ? null : '' });
  }

  private encodeChoice(index: number, delta: JsonObject, fields?: JsonObject): string {
    if (this.head === '') this.head = this.buildHead();
    const choice = JSON.stringify({ index, delta, finish_reason: null, ...fields });
    const extras = this.pending === undefined ? '' : `,${JSON.stringify(this.pending).slice(1, -1)}`;
    this.pending = undefined;
    return `${this.head}${choice}]${extras}}\n\n`;
  }

  private buildHead(): string {
    const head = { id: this.id, object: 'chat.completion.chunk', created: this.createdSeconds, model: this.model };
    return `data: ${JSON.stringify(head).slice(0, -1)},"choices":[`;
  }

  private delta(event: ChatEvent): JsonObject {
    switch (event.type) {
      case 'text':
        return { content: event.text };
      case 'reasoning':
        return { reasoning_content: event.text };
      case 'reasoning-detail':
        return { reasoning_details: [event.detail] };
      case 'refusal':
        return { refusal: event.text };
      case 'tool-call':
        return { tool_calls: [this.toolHead(event)] };
      case 'tool-arguments':
        return { tool_calls: [this.toolPiece(event)] };
      case 'extra':
        return event.scope === 'message' ? { [event.name]: event.value } : {};
      default:
        return {};
    }
  }

  private toolHead(event: Extract<ChatEvent, { type: 'tool-call' }>): JsonObject {
    const { toolIndex: index, id, name } = event;
    const signature: JsonObject = event.signature === undefined ? {} : { signature: event.signature };
    if (event.custom !== true) return { index, id, type: 'function', function: { name, arguments: '' }, ...signature };
    this.customTools.add(`${event.choice}:${index}`);
    return { index, id, type: 'custom', custom: { name, input: '' }, ...signature };
  }

  private toolPiece(event: Extract<ChatEvent, { type: 'tool-arguments' }>): JsonObject {
    const { toolIndex: index, text } = event;
    const custom = this.customTools.size > 0 && this.customTools.has(`${event.choice}:${index}`);
    return custom ? { index, custom: { input: text } } : { index, function: { arguments: text } };
  }
}

/** True where the caller knows of a last chunk without choices. */
export function asksForUsage({ extra }: ChatRequest): boolean {
  return isObject(extra.stream_options) && extra.stream_options.include_usage === true;
}

/** Fields of the choice beside its delta. */
function choiceFields(event: ChatEvent): JsonObject | undefined {
  if (event.type === 'finish') {
    return encodeFinish({ finishReason: event.reason, nativeFinishReason: event.nativeReason });
  }
  if (event.type === 'extra' && event.scope === 'choice') return { [event.name]: event.value };
  return undefined;
}
