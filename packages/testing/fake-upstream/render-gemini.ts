import type { JsonObject } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import {
  type FakeFormat,
  finishReason,
  fullText,
  halves,
  type RenderContext,
  textPieces,
  usageCounts,
} from './fake-format';

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** generateContent and streamGenerateContent. */
export const geminiFormat: FakeFormat = {
  plain: (behaviour, context) => {
    const { reasoning } = behaviour;
    const thoughts = reasoning === undefined ? [] : [{ text: reasoning, thought: true }];
    const said = behaviour.toolCalls === undefined ? textParts([fullText(behaviour)], behaviour) : callParts(behaviour);
    return chunk([...thoughts, ...said], behaviour, context, true);
  },
  events: renderEvents,
  leadEvents: 0,
  error: (code, message) => ({ error: { code, message, status: STATUS_NAMES[code] ?? 'INTERNAL' } }),
  errorEvent: 'data: {"error":{"code":500,"message":"fake failure mid-stream","status":"INTERNAL"}}\n\n',
};

const FINISH_REASONS: Readonly<Record<string, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};

function textParts(texts: readonly string[], behaviour: FakeBehaviour): JsonObject[] {
  // The vendor knows no words of refusal: it just stops.
  return behaviour.refusal === undefined ? texts.map((text) => ({ text })) : [];
}

/** The vendor signs the first of parallel calls, and leaves out empty arguments. */
function callParts(behaviour: FakeBehaviour): JsonObject[] {
  return (behaviour.toolCalls ?? []).map((call, index) => {
    const args = JSON.parse(call.arguments) as JsonObject;
    const functionCall = { name: call.name, ...(Object.keys(args).length === 0 ? {} : { args }) };
    return { functionCall, ...(index === 0 ? { thoughtSignature: 'ZmFrZQ==' } : {}) };
  });
}

function chunk(parts: JsonObject[], behaviour: FakeBehaviour, context: RenderContext, last: boolean): JsonObject {
  const finish = behaviour.refusal === undefined ? finishReason(behaviour) : 'content_filter';
  const ending: JsonObject = last ? { finishReason: FINISH_REASONS[finish] ?? finish } : {};
  return {
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...ending }],
    ...(behaviour.usage === null ? {} : { usageMetadata: renderUsage(behaviour) }),
    modelVersion: context.model,
    responseId: 'fakeResponse',
  };
}

function renderUsage(behaviour: FakeBehaviour): JsonObject {
  const { prompt, completion, cached, reasoning } = usageCounts(behaviour);
  return {
    promptTokenCount: prompt,
    cachedContentTokenCount: cached,
    candidatesTokenCount: completion - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: prompt + completion,
  };
}

function renderEvents(behaviour: FakeBehaviour, context: RenderContext): string[] {
  const { reasoning } = behaviour;
  const thoughts = reasoning === undefined ? [] : halves(reasoning, behaviour).map((text) => ({ text, thought: true }));
  const said = behaviour.toolCalls === undefined ? textParts(textPieces(behaviour), behaviour) : callParts(behaviour);
  const chunks = [...thoughts, ...said].map((part) => chunk([part], behaviour, context, false));
  if (behaviour.noDone !== true) chunks.push(chunk([{ text: '' }], behaviour, context, true));
  return chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`);
}
