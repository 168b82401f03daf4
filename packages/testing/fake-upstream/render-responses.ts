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

const CREATED = 1_760_000_000;

/** The Responses API. */
export const responsesFormat: FakeFormat = {
  plain: (behaviour, context) => wholeAnswer(behaviour, context),
  events: renderEvents,
  // Created, in progress, and the beginnings of the message and of its text.
  leadEvents: 4,
  error: (status, message) => ({ error: { message, type: 'fake_error', code: `fake_${status}`, param: null } }),
  errorEvent: named({
    type: 'error',
    sequence_number: 99,
    error: { type: 'server_error', code: 'server_error', message: 'fake failure mid-stream', param: null },
  }),
};

function named(payload: JsonObject): string {
  return `event: ${String(payload.type)}\ndata: ${JSON.stringify(payload)}\n\n`;
}

const INCOMPLETE: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' };

function wholeAnswer(behaviour: FakeBehaviour, context: RenderContext): JsonObject {
  const reason = INCOMPLETE[finishReason(behaviour)];
  return {
    ...begunAnswer(context),
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output: itemsOf(behaviour),
    usage: behaviour.usage === null ? null : renderUsage(behaviour),
    vendor_note: 'kept',
  };
}

function begunAnswer(context: RenderContext): JsonObject {
  return {
    id: 'resp_vendor0123456789',
    object: 'response',
    created_at: CREATED,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    model: context.model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: null,
  };
}

function renderUsage(behaviour: FakeBehaviour): JsonObject {
  const { prompt, completion, cached, reasoning } = usageCounts(behaviour);
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + completion,
  };
}

/** All items of the answer in their final form. */
function itemsOf(behaviour: FakeBehaviour): JsonObject[] {
  const { reasoning, toolCalls, outputItems = [] } = behaviour;
  const thoughts: JsonObject[] =
    reasoning === undefined
      ? []
      : [
          {
            id: 'rs_vendor1',
            type: 'reasoning',
            summary: [{ type: 'summary_text', text: reasoning }],
            encrypted_content: 'sealed-by-vendor',
          },
        ];
  const said: JsonObject[] =
    toolCalls === undefined
      ? [{ id: 'msg_vendor1', type: 'message', status: 'completed', role: 'assistant', content: [partOf(behaviour)] }]
      : toolCalls.map((call, i) => ({
          id: `fc_vendor${i}`,
          type: 'function_call',
          status: 'completed',
          call_id: callId(i),
          name: call.name,
          arguments: call.arguments,
        }));
  return [...thoughts, ...outputItems, ...said];
}

function partOf(behaviour: FakeBehaviour): JsonObject {
  if (behaviour.refusal !== undefined) return { type: 'refusal', refusal: behaviour.refusal };
  return { type: 'output_text', text: fullText(behaviour), annotations: [], logprobs: [] };
}

function renderEvents(behaviour: FakeBehaviour, context: RenderContext): string[] {
  const events: JsonObject[] = [
    { type: 'response.created', response: begunAnswer(context) },
    { type: 'response.in_progress', response: begunAnswer(context) },
  ];
  for (const [index, item] of itemsOf(behaviour).entries()) events.push(...itemEvents(item, index, behaviour));
  const response = wholeAnswer(behaviour, context);
  events.push({ type: `response.${String(response.status)}`, response });
  return events.map((event, i) => named({ ...event, sequence_number: i }));
}

function itemEvents(item: JsonObject, output_index: number, behaviour: FakeBehaviour): JsonObject[] {
  const at = { item_id: item.id ?? '', output_index };
  const empty = { ...item, status: 'in_progress', ...(EMPTY[String(item.type)] ?? {}) };
  return [
    { type: 'response.output_item.added', output_index, item: empty },
    ...piecesOf(item, at, behaviour),
    { type: 'response.output_item.done', output_index, item },
  ];
}

const EMPTY: Readonly<Record<string, JsonObject>> = {
  message: { content: [] },
  reasoning: { summary: [] },
  function_call: { arguments: '' },
};

function piecesOf(item: JsonObject, place: JsonObject, behaviour: FakeBehaviour): JsonObject[] {
  if (item.type === 'function_call') {
    const text = String(item.arguments);
    return [
      ...halves(text, behaviour).map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta })),
      { type: 'response.function_call_arguments.done', ...place, arguments: text, name: item.name ?? '' },
    ];
  }
  if (item.type === 'reasoning') {
    const text = behaviour.reasoning ?? '';
    const at = { ...place, summary_index: 0 };
    const part = (words: string) => ({ type: 'summary_text', text: words });
    return [
      { type: 'response.reasoning_summary_part.added', ...at, part: part('') },
      ...halves(text, behaviour).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
      { type: 'response.reasoning_summary_text.done', ...at, text },
      { type: 'response.reasoning_summary_part.done', ...at, part: part(text) },
    ];
  }
  return item.type === 'message' && item.id === 'msg_vendor1' ? contentEvents(place, behaviour) : [];
}

function contentEvents(place: JsonObject, behaviour: FakeBehaviour): JsonObject[] {
  const at = { ...place, content_index: 0 };
  const part = partOf(behaviour);
  const { refusal } = behaviour;
  const kind = refusal === undefined ? 'output_text' : 'refusal';
  const field = refusal === undefined ? 'text' : 'refusal';
  const marks: JsonObject = refusal === undefined ? { logprobs: [] } : {};
  const pieces = refusal === undefined ? textPieces(behaviour) : [refusal];
  return [
    { type: 'response.content_part.added', ...at, part: { ...part, [field]: '' } },
    ...pieces.map((delta) => ({ type: `response.${kind}.delta`, ...at, delta, ...marks, obfuscation: 'xyz' })),
    { type: `response.${kind}.done`, ...at, [field]: refusal ?? fullText(behaviour), ...marks },
    { type: 'response.content_part.done', ...at, part },
  ];
}
