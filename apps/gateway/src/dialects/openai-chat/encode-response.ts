import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ToolCall } from '@llm0/core/chat/request';
import type { ChatChoice, ChatResponse } from '@llm0/core/chat/response';
import type { LargeBody, ResponseSummary } from '../dialect';
import { roundMs, shownUsage, withCost, writeWithCost } from '../encode-metadata';
import { isObject } from '../read-fields';
import { encodeUsage } from './encode-usage';

/**
 * A plain answer. An upstream body of the same format keeps every field and gains the documented ones. Never modifies
 * `wireBody`, which others may share.
 */
export function encodeResponse(response: ChatResponse, summary: ResponseSummary, wireBody?: JsonObject): string {
  return withCost(JSON.stringify(encodeBody(response, summary, wireBody)), summary.costNanoUsd);
}

/** Encodes a large answer in slices. */
export function encodeLargeResponse(
  response: ChatResponse,
  summary: ResponseSummary,
  wireBody?: JsonObject,
): Promise<LargeBody> {
  return writeWithCost(encodeBody(response, summary, wireBody), summary.costNanoUsd);
}

function encodeBody(response: ChatResponse, summary: ResponseSummary, wireBody?: JsonObject): JsonObject {
  const body = wireBody === undefined ? buildBody(response, summary) : completeBody(wireBody, response, summary);
  body.latency_ms = roundMs(summary.latencyMs);
  delete body.cost_usd;
  return body;
}

function buildBody(response: ChatResponse, summary: ResponseSummary): JsonObject {
  return {
    id: response.id ?? `chatcmpl-${summary.requestId}`,
    object: 'chat.completion',
    created: response.createdSeconds ?? summary.createdSeconds,
    model: response.model ?? summary.model,
    choices: response.choices.map(encodeChoice),
    usage: encodeUsage(summary.usage),
    ...(summary.usage.serviceTier === undefined ? {} : { service_tier: summary.usage.serviceTier }),
    ...response.extra,
  };
}

function completeBody(wireBody: JsonObject, response: ChatResponse, summary: ResponseSummary): JsonObject {
  const body: JsonObject = { ...wireBody, object: 'chat.completion' };
  body.id ||= `chatcmpl-${summary.requestId}`;
  body.created ||= summary.createdSeconds;
  body.model ||= summary.model;
  const isShown = isObject(body.usage) && summary.usage.estimated !== true;
  if (!isShown) body.usage = shownUsage(body.usage, summary, encodeUsage);
  const choices: JsonValue[] = [];
  if (Array.isArray(wireBody.choices)) {
    for (const item of wireBody.choices) choices.push(completeChoice(item, choices.length, response));
  }
  body.choices = choices;
  return body;
}

function completeChoice(item: JsonValue, position: number, { choices }: ChatResponse): JsonValue {
  if (!isObject(item)) return item;
  const index = typeof item.index === 'number' ? item.index : position;
  const inPlace = choices[position];
  const choice = inPlace?.index === index ? inPlace : choices.find((one) => one.index === index);
  if (choice === undefined) return item;
  const { finishReason, nativeFinishReason: native = finishReason } = choice;
  const shown = native === 'function_call' ? native : finishReason;
  const message = completeMessage(item.message);
  return { ...item, index, message, finish_reason: shown, native_finish_reason: native };
}

/** Clients rely on `role` and `content` being there. */
function completeMessage(message: JsonValue | undefined): JsonValue {
  if (!isObject(message)) return message ?? null;
  const isComplete = message.role !== undefined && message.content !== undefined;
  return isComplete ? message : { role: 'assistant', content: null, ...message };
}

function encodeChoice(choice: ChatChoice): JsonObject {
  const hasOther = choice.toolCalls !== undefined || choice.refusal !== undefined;
  const message: JsonObject = {
    role: 'assistant',
    content: choice.text ?? (hasOther ? null : ''),
    refusal: choice.refusal ?? null,
  };
  if (choice.reasoning !== undefined) message.reasoning_content = choice.reasoning;
  if (choice.reasoningDetails !== undefined) message.reasoning_details = [...choice.reasoningDetails];
  if (choice.toolCalls !== undefined) message.tool_calls = choice.toolCalls.map(encodeToolCall);
  return {
    index: choice.index,
    message: { ...message, ...choice.messageExtra },
    logprobs: null,
    ...choice.choiceExtra,
    ...encodeFinish(choice),
  };
}

/** The finish reason in this format, with the vendor's own value. */
export function encodeFinish(choice: Pick<ChatChoice, 'finishReason' | 'nativeFinishReason'>): JsonObject {
  const { finishReason, nativeFinishReason: native = finishReason } = choice;
  return { finish_reason: native === 'function_call' ? native : finishReason, native_finish_reason: native };
}

function encodeToolCall(call: ToolCall): JsonObject {
  const body: JsonObject =
    call.custom === true
      ? { id: call.id, type: 'custom', custom: { name: call.name, input: call.arguments } }
      : { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
  if (call.signature !== undefined) body.signature = call.signature;
  return body;
}
