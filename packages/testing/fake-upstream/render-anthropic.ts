import type { JsonObject } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import {
  callId,
  type FakeFormat,
  finishReason,
  fullText,
  halves,
  type RenderContext,
  textPieces,
  usageCounts,
} from './fake-format';

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** The Messages API. */
export const anthropicFormat: FakeFormat = {
  plain: renderPlain,
  events: renderEvents,
  // The message's and the text block's beginning.
  leadEvents: 2,
  error: (status, message) => ({ type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } }),
  errorEvent: named({ type: 'error', error: { type: 'overloaded_error', message: 'fake failure mid-stream' } }),
};

function named(payload: JsonObject): string {
  return `event: ${String(payload.type)}\ndata: ${JSON.stringify(payload)}\n\n`;
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

function stopOf(behaviour: FakeBehaviour): JsonObject {
  if (behaviour.refusal !== undefined) {
    return { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: behaviour.refusal } };
  }
  const finish = finishReason(behaviour);
  return { stop_reason: STOP_REASONS[finish] ?? finish };
}

function renderUsage(behaviour: FakeBehaviour): JsonObject {
  const { prompt, completion, cached } = usageCounts(behaviour);
  return {
    input_tokens: prompt - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    service_tier: 'standard',
  };
}

/** A block, and how a stream tells it piece by piece. */
interface FakeBlock {
  readonly whole: JsonObject;
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function blocksOf(behaviour: FakeBehaviour): FakeBlock[] {
  const { reasoning, refusal, toolCalls } = behaviour;
  const blocks: FakeBlock[] = [];
  if (reasoning !== undefined) blocks.push(thinkingBlock(reasoning, behaviour));
  if (refusal !== undefined) return blocks;
  if (toolCalls === undefined) return [...blocks, textBlock(behaviour)];
  return [...blocks, ...toolCalls.map((call, index) => toolBlock(call, index, behaviour))];
}

function thinkingBlock(thinking: string, behaviour: FakeBehaviour): FakeBlock {
  const signature = 'ZmFrZQ==';
  return {
    whole: { type: 'thinking', thinking, signature },
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...halves(thinking, behaviour).map((text) => ({ type: 'thinking_delta', thinking: text })),
      { type: 'signature_delta', signature },
    ],
  };
}

function textBlock(behaviour: FakeBehaviour): FakeBlock {
  return {
    whole: { type: 'text', text: fullText(behaviour) },
    start: { type: 'text', text: '' },
    deltas: textPieces(behaviour).map((text) => ({ type: 'text_delta', text })),
  };
}

function toolBlock(
  call: { readonly name: string; readonly arguments: string },
  index: number,
  behaviour: FakeBehaviour,
): FakeBlock {
  const head = { type: 'tool_use', id: callId(index), name: call.name };
  const input = JSON.parse(call.arguments) as JsonObject;
  // A call without arguments streams none.
  const pieces = Object.keys(input).length === 0 ? [''] : ['', ...halves(call.arguments, behaviour)];
  return {
    whole: { ...head, input },
    start: { ...head, input: {} },
    deltas: pieces.map((text) => ({ type: 'input_json_delta', partial_json: text })),
  };
}

function head(context: RenderContext): JsonObject {
  return { id: 'msg_fake', type: 'message', role: 'assistant', model: context.model };
}

function renderPlain(behaviour: FakeBehaviour, context: RenderContext): JsonObject {
  const content = blocksOf(behaviour).map((block) => block.whole);
  const usage: JsonObject = behaviour.usage === null ? {} : { usage: renderUsage(behaviour) };
  return { ...head(context), content, stop_sequence: null, ...stopOf(behaviour), ...usage };
}

function renderEvents(behaviour: FakeBehaviour, context: RenderContext): string[] {
  const usage = behaviour.usage === null ? undefined : renderUsage(behaviour);
  const started: JsonObject = usage === undefined ? {} : { usage: { ...usage, output_tokens: 1 } };
  const message = { ...head(context), content: [], stop_reason: null, stop_sequence: null, ...started };
  const ended: JsonObject = usage === undefined ? {} : { usage: { output_tokens: usage.output_tokens ?? 0 } };
  const blocks = blocksOf(behaviour).flatMap(({ start, deltas }, index): JsonObject[] => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]);
  const payloads: JsonObject[] = [
    { type: 'message_start', message },
    ...blocks,
    { type: 'message_delta', delta: { stop_sequence: null, ...stopOf(behaviour) }, ...ended },
    ...(behaviour.noDone === true ? [] : [{ type: 'message_stop' }]),
  ];
  return payloads.map(named);
}
