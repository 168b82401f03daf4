import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { encodeSse } from '@llm0/core/sse/encode-sse';
import type { ResponseSummary, StreamContext, StreamEncoder } from '../dialect';
import { roundMs, withCost } from '../encode-metadata';
import { isObject } from '../read-fields';
import { type BlockSink, BlockWriter } from './encode-blocks';
import { encodeError } from './encode-error';
import { type Ending, encodeEnding, messageId, showsThinking } from './encode-response';
import { encodeUsage } from './encode-usage';
import { replayBlock } from './gather-blocks';

const encoder = new TextEncoder();
const FORMAT = 'anthropic-messages';
const PING = encodeSse('{"type":"ping"}', 'ping');

type StartEvent = Extract<ChatEvent, { type: 'start' }>;

/**
 * Events → `message_start`, ping, blocks, `message_delta`, `message_stop`. Bytes of the same format pass; the last
 * event is always ours, with cost and latency. Source: https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export class MessageStreamEncoder implements StreamEncoder, BlockSink {
  private readonly writer: BlockWriter;
  private text = '';
  private started = false;
  /** The vendor's bytes went out, so the caller has the rest already. */
  private forwarded = false;
  /** The message's own blocks went out, so our events add nothing. */
  private saidAll = false;
  private ending: Omit<Ending, 'hasCalls'> = { reason: 'stop' };
  private stopSequence: Ending['stopSequence'];
  private readonly closing: JsonObject = {};
  private hasOwnCalls = false;

  constructor(private readonly context: StreamContext) {
    this.writer = new BlockWriter(this, showsThinking(context.request));
  }

  encode(batch: EventBatch): Uint8Array | null {
    const { wire } = batch;
    if (wire?.kind === 'bytes' && wire.format === FORMAT && !this.started) {
      this.forwarded = true;
      return wire.bytes;
    }
    if (this.forwarded) return null;
    const own = batch.events.find((event) => event.type === 'raw-message' && event.format === FORMAT);
    if (own?.type === 'raw-message' && !this.saidAll) this.encodeOwn(own.value, batch.events);
    else for (const event of batch.events) this.encodeEvent(event, batch.events);
    return this.takeText();
  }

  finish(summary: ResponseSummary): Uint8Array {
    if (!this.forwarded) this.encodeEnd(summary);
    const stop = JSON.stringify({
      type: 'message_stop',
      latency_ms: roundMs(summary.latencyMs),
      provider: summary.provider,
      cache: summary.cache,
    });
    this.text += encodeSse(withCost(stop, summary.costNanoUsd), 'message_stop');
    return this.takeText() ?? new Uint8Array(0);
  }

  fail(error: GatewayError, requestId: string): Uint8Array {
    return encoder.encode(encodeSse(encodeError(error, requestId), 'error'));
  }

  start(index: number, block: JsonObject): void {
    this.send({ type: 'content_block_start', index, content_block: block });
  }

  delta(index: number, delta: JsonObject): void {
    this.send({ type: 'content_block_delta', index, delta });
  }

  stop(index: number): void {
    this.send({ type: 'content_block_stop', index });
  }

  private encodeEvent(event: ChatEvent, batch: readonly ChatEvent[]): void {
    if (event.type === 'start') this.encodeStart(event, batch);
    else if (event.type === 'finish') this.noteFinish(event);
    else if (event.type === 'extra') this.noteExtra(event);
    else if (event.type !== 'usage' && event.type !== 'native-item' && !this.saidAll) {
      if (!this.started) this.encodeStart({ type: 'start' }, batch);
      this.writer.add(event);
    }
  }

  /** A complete answer in this format, from a cache or instead of a stream; continues after the written part. */
  private encodeOwn(message: JsonObject, batch: readonly ChatEvent[]): void {
    const at = batch.findIndex(({ type }) => type === 'raw-message');
    for (const [index, event] of batch.entries()) {
      const isAhead = index < at && event.type === 'tool-arguments';
      const isMark = event.type === 'start' || event.type === 'finish' || event.type === 'extra';
      if (isAhead || isMark) this.encodeEvent(event, batch);
    }
    if (!this.started) this.encodeStart({ type: 'start' }, batch);
    const blocks = Array.isArray(message.content) ? message.content.filter(isObject) : [];
    this.hasOwnCalls = blocks.some(({ type }) => type === 'tool_use');
    const from = this.writer.goOn(blocks);
    for (const [index, block] of blocks.entries()) if (index >= from) replayBlock(block, index, this);
    this.saidAll = true;
  }

  /** Usage arrives at the end; if it is known earlier, some callers read it here. */
  private encodeStart({ id, model }: StartEvent, batch: readonly ChatEvent[]): void {
    if (this.started) return;
    this.started = true;
    const known = batch.find((event) => event.type === 'usage')?.usage ?? ZERO_USAGE;
    this.send({
      type: 'message_start',
      message: {
        id: id ?? messageId(this.context.requestId),
        type: 'message',
        role: 'assistant',
        model: model ?? this.context.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...encodeUsage(known), output_tokens: 0 },
      },
    });
    this.text += PING;
  }

  private noteFinish({ choice, reason, nativeReason }: Extract<ChatEvent, { type: 'finish' }>): void {
    if (choice === 0) this.ending = { reason, nativeReason };
  }

  private noteExtra(event: Extract<ChatEvent, { type: 'extra' }>): void {
    if (event.scope === 'choice' && event.name === 'stop_sequence') this.stopSequence = event.value;
    const isClosing = event.name === 'container' || event.name === 'context_management';
    if (event.scope === 'answer' && isClosing) this.closing[event.name] = event.value;
  }

  private encodeEnd(summary: ResponseSummary): void {
    if (!this.started) this.encodeStart({ type: 'start' }, []);
    this.writer.finish();
    const { container, ...closing } = this.closing;
    const hasCalls = this.writer.calls > 0 || this.hasOwnCalls;
    const ending = encodeEnding({ ...this.ending, stopSequence: this.stopSequence, hasCalls });
    this.send({
      type: 'message_delta',
      delta: { ...ending, ...(container === undefined ? {} : { container }) },
      usage: encodeUsage(summary.usage),
      ...closing,
    });
  }

  private send(payload: JsonObject): void {
    this.text += encodeSse(JSON.stringify(payload), String(payload.type));
  }

  private takeText(): Uint8Array | null {
    if (this.text === '') return null;
    const bytes = encoder.encode(this.text);
    this.text = '';
    return bytes;
  }
}
