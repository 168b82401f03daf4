import type { JsonObject } from '@llm0/core/chat/json';
import { frame } from '@llm0/providers/bedrock/__fixtures__/answers';
import type { FakeBehaviour } from './behaviour';
import { callId, type FakeFormat, finishReason, fullText, halves, textPieces, usageCounts } from './fake-format';

/** The Converse API, whose streams are binary. */
export const bedrockFormat: FakeFormat = {
  plain: renderPlain,
  events: renderEvents,
  // The message's beginning.
  leadEvents: 1,
  error: (_status, message) => ({ message }),
  errorEvent: frame(
    { 'exception-type': 'modelStreamErrorException', 'message-type': 'exception' },
    { message: 'fake failure mid-stream' },
  ),
  streamType: 'application/vnd.amazon.eventstream',
};

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'guardrail_intervened',
};

function stopReason(behaviour: FakeBehaviour): string {
  const finish = finishReason(behaviour);
  return STOP_REASONS[finish] ?? finish;
}

function renderUsage(behaviour: FakeBehaviour): JsonObject {
  const { prompt, completion, cached } = usageCounts(behaviour);
  return {
    inputTokens: prompt - cached,
    outputTokens: completion,
    totalTokens: prompt + completion,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: 0,
  };
}

/** A block, and how a stream tells it piece by piece. */
interface FakeBlock {
  readonly whole: JsonObject;
  readonly start?: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function blocksOf(behaviour: FakeBehaviour): FakeBlock[] {
  const { reasoning, refusal, toolCalls } = behaviour;
  const blocks: FakeBlock[] = [];
  if (reasoning !== undefined) blocks.push(thinkingBlock(reasoning, behaviour));
  if (toolCalls !== undefined) return [...blocks, ...toolCalls.map((call, index) => toolBlock(call, index, behaviour))];
  // A guardrail refuses in the words it was configured with, as ordinary text.
  const text = refusal === undefined ? behaviour : { ...behaviour, text: refusal };
  return [...blocks, { whole: { text: fullText(text) }, deltas: textPieces(text).map((piece) => ({ text: piece })) }];
}

function thinkingBlock(text: string, behaviour: FakeBehaviour): FakeBlock {
  const signature = 'ZmFrZQ==';
  return {
    whole: { reasoningContent: { reasoningText: { text, signature } } },
    deltas: [...halves(text, behaviour).map((piece) => ({ text: piece })), { signature }].map((reasoningContent) => ({
      reasoningContent,
    })),
  };
}

function toolBlock(
  call: { readonly name: string; readonly arguments: string },
  index: number,
  behaviour: FakeBehaviour,
): FakeBlock {
  const head = { toolUseId: callId(index), name: call.name };
  const input = JSON.parse(call.arguments) as JsonObject;
  // A call without arguments streams none.
  const pieces = Object.keys(input).length === 0 ? [] : halves(call.arguments, behaviour);
  return {
    whole: { toolUse: { ...head, input } },
    start: { toolUse: head },
    deltas: pieces.map((piece) => ({ toolUse: { input: piece } })),
  };
}

function renderPlain(behaviour: FakeBehaviour): JsonObject {
  const content = blocksOf(behaviour).map((block) => block.whole);
  const usage: JsonObject = behaviour.usage === null ? {} : { usage: renderUsage(behaviour) };
  return { output: { message: { role: 'assistant', content } }, stopReason: stopReason(behaviour), ...usage };
}

function renderEvents(behaviour: FakeBehaviour): Uint8Array[] {
  const event = (type: string, payload: JsonObject) => frame({ 'event-type': type, 'message-type': 'event' }, payload);
  const blocks = blocksOf(behaviour).flatMap(({ start, deltas }, contentBlockIndex) => [
    ...(start === undefined ? [] : [event('contentBlockStart', { contentBlockIndex, start })]),
    ...deltas.map((delta) => event('contentBlockDelta', { contentBlockIndex, delta })),
    event('contentBlockStop', { contentBlockIndex }),
  ]);
  if (behaviour.noDone === true) return [event('messageStart', { role: 'assistant' }), ...blocks];
  return [
    event('messageStart', { role: 'assistant' }),
    ...blocks,
    event('messageStop', { stopReason: stopReason(behaviour) }),
    ...(behaviour.usage === null ? [] : [event('metadata', { usage: renderUsage(behaviour) })]),
  ];
}
