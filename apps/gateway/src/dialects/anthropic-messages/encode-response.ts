import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { replayResponse } from '@llm0/core/chat/replay';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { ChatChoice, ChatResponse, FinishReason } from '@llm0/core/chat/response';
import type { LargeBody, ResponseSummary } from '../dialect';
import { roundMs, shownUsage, withCost, writeWithCost } from '../encode-metadata';
import { BlockWriter } from './encode-blocks';
import { encodeUsage } from './encode-usage';
import { GatheredBlocks } from './gather-blocks';

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
  const body = wireBody === undefined ? buildBody(response, summary) : completeBody(wireBody, summary);
  body.latency_ms = roundMs(summary.latencyMs);
  delete body.cost_usd;
  return body;
}

/** Id of a message whose vendor sent none. */
export function messageId(requestId: string): string {
  return `msg_${requestId.replaceAll('-', '')}`;
}

/** Thoughts of other vendors' models are shown to callers that asked for thoughts. */
export function showsThinking(request: ChatRequest | undefined): boolean {
  return request === undefined || (request.thinking !== undefined && request.thinking.type !== 'disabled');
}

/** A choice with its end in this format. */
export interface Ending {
  readonly reason: FinishReason;
  readonly nativeReason?: string;
  readonly stopSequence?: JsonValue;
  /** The answer holds calls. */
  readonly hasCalls: boolean;
}

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
} as const satisfies Record<FinishReason, string>;

/** Source: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
const OWN_REASONS: ReadonlySet<string> = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
]);

export function encodeEnding({ reason, nativeReason, stopSequence, hasCalls }: Ending): JsonObject {
  const own = nativeReason !== undefined && OWN_REASONS.has(nativeReason) ? nativeReason : STOP_REASONS[reason];
  // Some vendors end an answer full of calls like any other; callers go by this word alone.
  const isPlainEnd = own === 'end_turn' || own === 'tool_use';
  return {
    stop_reason: isPlainEnd ? (hasCalls ? 'tool_use' : 'end_turn') : own,
    stop_sequence: typeof stopSequence === 'string' ? stopSequence : null,
  };
}

/** The message's own blocks, where they are known. */
function ownContent(choice: ChatChoice | undefined): JsonValue | undefined {
  return choice?.raw?.format === 'anthropic-messages' ? choice.raw.value.content : undefined;
}

function buildBody(response: ChatResponse, summary: ResponseSummary): JsonObject {
  const choice = response.choices.find(({ index }) => index === 0);
  const gathered = new GatheredBlocks();
  const writer = new BlockWriter(gathered, showsThinking(summary.request));
  for (const event of replayResponse(response).events) writer.add(event);
  writer.finish();
  const content = ownContent(choice) ?? gathered.blocks;
  return {
    id: response.id ?? messageId(summary.requestId),
    type: 'message',
    role: 'assistant',
    model: response.model ?? summary.model,
    content,
    ...encodeEnding({
      reason: choice?.finishReason ?? 'stop',
      nativeReason: choice?.nativeFinishReason,
      stopSequence: choice?.choiceExtra?.stop_sequence,
      hasCalls: writer.calls > 0,
    }),
    usage: encodeUsage(summary.usage),
    ...closingFields(response),
  };
}

/** Fields of the vendor's own that other formats' answers never have. */
const CLOSING_FIELDS = ['container', 'context_management'] as const;

function closingFields({ extra = {} }: ChatResponse): JsonObject {
  const fields: JsonObject = {};
  for (const name of CLOSING_FIELDS) if (extra[name] !== undefined) fields[name] = extra[name];
  return fields;
}

function completeBody(wireBody: JsonObject, summary: ResponseSummary): JsonObject {
  const body: JsonObject = { ...wireBody, type: 'message', role: 'assistant' };
  body.id ||= messageId(summary.requestId);
  body.model ||= summary.model;
  body.stop_sequence ??= null;
  body.usage = shownUsage(body.usage, summary, encodeUsage);
  return body;
}
