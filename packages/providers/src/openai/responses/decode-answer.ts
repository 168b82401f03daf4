import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FinishReason } from '@llm0/core/chat/response';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { countBlocks } from '@llm0/core/pricing/count-output';
import { asNumber, asObject, asObjects, asString } from '../../translation/read-json';
import { upstreamFailure } from '../../transport/upstream-failure';
import { decodeErrorObject } from '../decode-error';
import { decodeUsage } from '../decode-usage';
import { BETWEEN_PARTS, isPlainOutput, TOLD_ELSEWHERE, WIRE_FORMAT, waitsForCaller } from './wire';

/** The start events of an answer. */
export function startEvents(response: JsonObject): ChatEvent[] {
  const id = asString(response.id) || undefined;
  const model = asString(response.model) || undefined;
  return [{ type: 'start', id, model, createdSeconds: asNumber(response.created_at) || undefined }];
}

/** All items of a whole answer, as events of ours. */
export function outputEvents(response: JsonObject): ChatEvent[] {
  let toolIndex = 0;
  return asObjects(response.output).flatMap((item): ChatEvent[] => {
    if (item.type === 'message') return messageEvents(item);
    if (item.type === 'reasoning') return reasoningEvents(item);
    const call = callEvent(item, toolIndex);
    if (call === undefined) return [];
    const text = asString(item.arguments ?? item.input) ?? '';
    const pieces: ChatEvent[] = text === '' ? [] : [{ type: 'tool-arguments', choice: 0, toolIndex, text }];
    toolIndex += 1;
    return [call, ...pieces];
  });
}

/** Text of a message; some servers send it without parts. */
export function messageEvents({ content }: JsonObject): ChatEvent[] {
  if (typeof content === 'string' && content !== '') return [{ type: 'text', choice: 0, text: content }];
  return asObjects(content).flatMap(partEvents);
}

function partEvents(part: JsonObject): ChatEvent[] {
  const refusal = asString(part.refusal);
  if (part.type === 'refusal' && refusal !== undefined) return [{ type: 'refusal', choice: 0, text: refusal }];
  const text = asString(part.text);
  return part.type === 'output_text' && text !== undefined ? [{ type: 'text', choice: 0, text }] : [];
}

function reasoningEvents(item: JsonObject): ChatEvent[] {
  const text = [...asObjects(item.summary), ...asObjects(item.content)]
    .map((part) => asString(part.text) ?? '')
    .filter((one) => one !== '')
    .join(BETWEEN_PARTS);
  return text === '' ? [] : [{ type: 'reasoning', choice: 0, text }];
}

/** The beginning of a call; undefined for items of other kinds. */
export function callEvent(item: JsonObject, toolIndex: number): ChatEvent | undefined {
  if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return undefined;
  const [id, name] = [asString(item.call_id) ?? '', asString(item.name) ?? ''];
  const custom = item.type === 'custom_tool_call' ? { custom: true } : {};
  return { type: 'tool-call', choice: 0, toolIndex, id, name, ...custom };
}

const FINISH_BY_INCOMPLETE: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

/** The answer's end: marks on its text, the whole of it where our types do not hold it, its finish and its usage. */
export function endEvents(response: JsonObject): ChatEvent[] {
  const output = asObjects(response.output);
  const events: ChatEvent[] = [...markEvents(output)];
  const tier = response.service_tier ?? undefined;
  if (tier !== undefined) events.push({ type: 'extra', scope: 'answer', name: 'service_tier', value: tier });
  if (!isPlainOutput(output)) {
    events.push({ type: 'raw-message', choice: 0, format: WIRE_FORMAT, value: rawAnswer(response) });
    events.push({ type: 'unread', bytes: countBlocks(output), isWhole: true });
  }
  const native = asString(asObject(response.incomplete_details)?.reason);
  const whole: FinishReason = output.some(waitsForCaller) ? 'tool_calls' : 'stop';
  const cut = FINISH_BY_INCOMPLETE[native ?? ''] ?? 'length';
  const reason = response.status === 'incomplete' ? cut : whole;
  events.push({ type: 'finish', choice: 0, reason, ...(native === undefined ? {} : { nativeReason: native }) });
  const usage = decodeUsage(response.usage, tier, response.tool_usage);
  if (usage !== undefined) events.push({ type: 'usage', usage });
  return events;
}

/** Sources and probabilities for callers of the vendor's other format. */
function markEvents(output: readonly JsonObject[]): ChatEvent[] {
  const parts = output.flatMap((item) => (item.type === 'message' ? asObjects(item.content) : []));
  const annotations = parts.flatMap((part) => asObjects(part.annotations)).map(nestedAnnotation);
  const logprobs = parts.flatMap((part) => asObjects(part.logprobs));
  return [
    ...(annotations.length === 0 ? [] : [extra('message', 'annotations', annotations)]),
    ...(logprobs.length === 0 ? [] : [extra('choice', 'logprobs', { content: logprobs })]),
  ];
}

function extra(scope: 'message' | 'choice', name: string, value: JsonValue): ChatEvent {
  return { type: 'extra', choice: 0, scope, name, value };
}

function nestedAnnotation({ type, ...rest }: JsonObject): JsonObject {
  return typeof type === 'string' ? { type, [type]: rest } : rest;
}

/** The answer without fields that the request or our types hold. */
function rawAnswer(response: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(response).filter(([name, value]) => !TOLD_ELSEWHERE.has(name) && value !== null),
  );
}

/** The error of an answer that failed; undefined for any other. */
export function failureOf(provider: string, response: JsonObject): GatewayError | undefined {
  if (response.error != null) return decodeErrorObject(provider, { error: withStatus(response.error) });
  if (response.status !== 'failed' && response.status !== 'cancelled') return undefined;
  return upstreamFailure('server_error', provider, `ended its answer as "${response.status}".`);
}

const SERVER_ERRORS: ReadonlySet<string> = new Set(['server_error', 'vector_store_timeout']);

function withStatus(error: JsonValue): JsonValue {
  const value = asObject(error);
  return value !== undefined && SERVER_ERRORS.has(String(value.code)) ? { ...value, status: 500 } : error;
}
