import type { JsonObject } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import { callId, type FakeFormat, finishReason, fullText, halves, textPieces, usageCounts } from './fake-format';

/** Cohere's chat (v2). */
export const cohereFormat: FakeFormat = {
  plain: (behaviour) => ({
    id: ANSWER_ID,
    message: { role: 'assistant', ...wholeMessage(behaviour) },
    ...ending(behaviour),
  }),
  events: renderEvents,
  // The message's beginning, and that of its text.
  leadEvents: 2,
  error: (_status, message) => ({ id: ANSWER_ID, message }),
  errorEvent: sse('message-end', { delta: { finish_reason: 'ERROR', error: 'fake failure mid-stream' } }),
};

const ANSWER_ID = '00000000-0000-4000-8000-000000000000';

const FINISH_REASONS: Readonly<Record<string, string>> = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  tool_calls: 'TOOL_CALL',
  content_filter: 'ERROR_TOXIC',
};

function sse(type: string, more: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

/** Billed is what was asked for; what is processed holds the vendor's own prompt, too. */
function ending(behaviour: FakeBehaviour): JsonObject {
  const finish = finishReason(behaviour);
  const { prompt, completion, cached } = usageCounts(behaviour);
  const usage = {
    billed_units: { input_tokens: prompt, output_tokens: completion },
    tokens: { input_tokens: prompt + OWN_PROMPT_TOKENS, output_tokens: completion },
    cached_tokens: cached,
  };
  return { finish_reason: FINISH_REASONS[finish] ?? finish, ...(behaviour.usage === null ? {} : { usage }) };
}

const OWN_PROMPT_TOKENS = 66;

/** A refusal is text like any other. */
const withWords = (behaviour: FakeBehaviour): FakeBehaviour =>
  behaviour.refusal === undefined ? behaviour : { ...behaviour, text: behaviour.refusal };

function wholeMessage(behaviour: FakeBehaviour): JsonObject {
  const { reasoning, toolCalls } = behaviour;
  const thinking = reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning }];
  if (toolCalls === undefined)
    return { content: [...thinking, { type: 'text', text: fullText(withWords(behaviour)) }] };
  const calls = toolCalls.map((call, index) => ({ ...callHead(index), function: { ...call } }));
  return { ...(thinking.length === 0 ? {} : { content: thinking }), tool_calls: calls };
}

const callHead = (index: number) => ({ id: callId(index), type: 'function' });

function renderEvents(behaviour: FakeBehaviour): string[] {
  const { reasoning, toolCalls } = behaviour;
  const thoughts = reasoning === undefined ? [] : block('thinking', 0, halves(reasoning, behaviour));
  const said =
    toolCalls === undefined
      ? block('text', thoughts.length === 0 ? 0 : 1, textPieces(withWords(behaviour)))
      : toolCalls.flatMap((call, index) => callEvents(call, index, behaviour));
  const events = [
    sse('message-start', { id: ANSWER_ID, delta: { message: { role: 'assistant' } } }),
    ...thoughts,
    ...said,
  ];
  return behaviour.noDone === true ? events : [...events, sse('message-end', { delta: ending(behaviour) })];
}

function block(kind: 'text' | 'thinking', index: number, pieces: readonly string[]): string[] {
  const content = (piece: JsonObject) => ({ index, delta: { message: { content: piece } } });
  return [
    sse('content-start', content({ type: kind, [kind]: '' })),
    ...pieces.map((piece) => sse('content-delta', content({ [kind]: piece }))),
    sse('content-end', { index }),
  ];
}

function callEvents(
  call: { readonly name: string; readonly arguments: string },
  index: number,
  behaviour: FakeBehaviour,
): string[] {
  const told = (tool_calls: JsonObject) => ({ index, delta: { message: { tool_calls } } });
  // A call without arguments streams none.
  const pieces = call.arguments === '{}' ? [] : halves(call.arguments, behaviour);
  return [
    sse('tool-call-start', told({ ...callHead(index), function: { name: call.name, arguments: '' } })),
    ...pieces.map((piece) => sse('tool-call-delta', told({ function: { arguments: piece } }))),
    sse('tool-call-end', { index }),
  ];
}
