import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatChoice, ChatResponse } from '@llm0/core/chat/response';
import type { LargeBody, ResponseSummary } from '../dialect';
import { roundMs, withCost, writeWithCost } from '../encode-metadata';
import { encodeUsage } from '../openai-chat/encode-usage';
import { encodeFinishReason, encodeLogprobs, promptLength } from './encode-choice';

/** A whole plain answer. Source: https://platform.openai.com/docs/api-reference/completions/object */
export function encodeResponse(response: ChatResponse, summary: ResponseSummary): string {
  return withCost(JSON.stringify(encodeBody(response, summary)), summary.costNanoUsd);
}

/** Encodes a large answer in slices. */
export function encodeLargeResponse(response: ChatResponse, summary: ResponseSummary): Promise<LargeBody> {
  return writeWithCost(encodeBody(response, summary), summary.costNanoUsd);
}

function encodeBody(response: ChatResponse, summary: ResponseSummary): JsonObject {
  const body: JsonObject = {
    id: response.id ?? `cmpl-${summary.requestId}`,
    object: 'text_completion',
    created: response.createdSeconds ?? summary.createdSeconds,
    model: response.model ?? summary.model,
    choices: response.choices.map((choice) => encodeChoice(choice, summary)),
    usage: encodeUsage(summary.usage),
    ...response.extra,
    latency_ms: roundMs(summary.latencyMs),
  };
  delete body.cost_usd;
  return body;
}

function encodeChoice(
  { index, text, refusal, choiceExtra, finishReason }: ChatChoice,
  { request }: ResponseSummary,
): JsonObject {
  const offset = request === undefined ? 0 : promptLength(request, index);
  return {
    ...choiceExtra,
    text: text ?? refusal ?? '',
    index,
    logprobs: encodeLogprobs(choiceExtra?.logprobs, offset),
    finish_reason: encodeFinishReason(finishReason),
  };
}
