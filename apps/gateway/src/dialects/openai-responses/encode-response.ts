import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { replayResponse } from '@llm0/core/chat/replay';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { ChatChoice, ChatResponse } from '@llm0/core/chat/response';
import { answerId } from '@llm0/core/conversations/own-ids';
import type { LargeBody, ResponseSummary } from '../dialect';
import { roundMs, shownUsage, withCost, writeWithCost } from '../encode-metadata';
import { encodeUsage } from './encode-usage';
import { OutputItems } from './output-items';

/**
 * A plain answer. An upstream body of the same format keeps every field but its id, because callers use ours. Source:
 * https://platform.openai.com/docs/api-reference/responses/object
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
  const choice = response.choices.find(({ index }) => index === 0);
  const body = completeResponse({
    begun: beginResponse({ ...summary, model: response.model ?? summary.model }),
    output: Array.isArray(wireBody?.output) ? wireBody.output : outputOf(response, choice, summary),
    finish: choice,
    fields: wireBody ?? rawOf(choice) ?? foreignFields({ ...tierOf(summary.usage), ...response.extra }),
    summary,
  });
  return body;
}

const tierOf = ({ serviceTier }: ResponseSummary['usage']): JsonObject =>
  serviceTier === undefined ? {} : { service_tier: serviceTier };

function outputOf(response: ChatResponse, choice: ChatChoice | undefined, summary: ResponseSummary): JsonValue[] {
  const raw = rawOf(choice)?.output;
  if (Array.isArray(raw)) return raw;
  const items = new OutputItems(summary.requestId, { request: summary.request });
  for (const event of replayResponse(response).events) items.add(event);
  return items.close(choice !== undefined && isCut(choice));
}

/** The vendor's own answer, if our types can't hold all of it. */
export function rawOf(choice: ChatChoice | undefined): JsonObject | undefined {
  return choice?.raw?.format === 'openai-responses' ? choice.raw.value : undefined;
}

/** Other vendors' unknown fields, but for names that mean something here. */
export function foreignFields(extra: Readonly<Record<string, JsonValue>>): JsonObject {
  return Object.fromEntries(Object.entries(extra).filter(([name]) => !OWN_FIELDS.has(name)));
}

export type Finish = Pick<ChatChoice, 'finishReason'>;

export const isCut = ({ finishReason }: Finish): boolean => Object.hasOwn(INCOMPLETE, finishReason);

/** Reasons for incomplete answers, by the format's names. */
const INCOMPLETE: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' };

export interface ResponseStart {
  readonly requestId: string;
  readonly model: string;
  readonly createdSeconds: number;
  readonly request?: ChatRequest;
}

/** Echoed request fields, with their defaults. */
const ECHOED = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
} as const satisfies JsonObject;

const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(ECHOED).filter((name) => name !== 'service_tier'),
  ...[
    'id',
    'object',
    'created_at',
    'completed_at',
    'status',
    'error',
    'incomplete_details',
    'model',
    'output',
    'usage',
  ],
]);

/** The answer object before any output. */
export function beginResponse({ requestId, model, createdSeconds, request }: ResponseStart): JsonObject {
  const asked = request?.wire?.format === 'openai-responses' ? request.wire.body : {};
  const echo: JsonObject = {};
  for (const name of Object.keys(ECHOED) as (keyof typeof ECHOED)[]) echo[name] = asked[name] ?? ECHOED[name];
  return {
    id: answerId(requestId),
    object: 'response',
    created_at: createdSeconds,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model,
    output: [],
    usage: null,
    ...echo,
  };
}

export interface ResponseParts {
  readonly begun: JsonObject;
  readonly output: JsonValue[];
  readonly finish: Finish | undefined;
  /** Further fields of the vendor; its own body if it has the same format. */
  readonly fields: JsonObject;
  readonly summary: ResponseSummary;
}

/** The complete answer without its cost. Never modifies its input. */
export function completeResponse({ begun, output, finish, fields, summary }: ResponseParts): JsonObject {
  const reason = finish === undefined ? undefined : INCOMPLETE[finish.finishReason];
  const body: JsonObject = {
    ...begun,
    status: reason === undefined ? 'completed' : 'incomplete',
    completed_at: reason === undefined ? Math.floor(summary.createdSeconds + summary.latencyMs / 1000) : null,
    incomplete_details: reason === undefined ? null : { reason },
    output,
  };
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== null && value !== undefined && name !== 'cost_usd') body[name] = value;
  }
  body.id = begun.id ?? null;
  body.object = 'response';
  body.store = begun.store ?? null;
  body.previous_response_id = begun.previous_response_id ?? null;
  body.latency_ms = roundMs(summary.latencyMs);
  body.provider = summary.provider;
  body.cache = summary.cache;
  body.usage = shownUsage(body.usage, summary, encodeUsage);
  if (!Array.isArray(body.output)) body.output = output;
  return body;
}
