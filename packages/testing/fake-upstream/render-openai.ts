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

/** Chat Completions. */
export const openaiFormat: FakeFormat = {
  plain: renderPlain,
  events: renderEvents,
  leadEvents: 1,
  error: (status, message) => ({ error: { message, type: 'fake_error', code: `fake_${status}`, param: null } }),
  errorEvent: 'data: {"error":{"message":"fake failure mid-stream","type":"server_error","code":500}}\n\n',
};

function renderPlain(behaviour: FakeBehaviour, context: RenderContext): JsonObject {
  const { toolCalls, refusal, reasoning } = behaviour;
  const calls = toolCalls?.map((call, index) => ({ id: callId(index), type: 'function', function: { ...call } }));
  const message: JsonObject = {
    role: 'assistant',
    refusal: refusal ?? null,
    content: calls !== undefined || refusal !== undefined ? null : fullText(behaviour),
    ...(calls === undefined ? {} : { tool_calls: calls }),
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
  };
  const answer: JsonObject = {
    ...head(context, 'chat.completion'),
    choices: choiceIndexes(behaviour).map((index) => ({
      ...{ index, message, logprobs: null, finish_reason: finishReason(behaviour) },
    })),
  };
  if (behaviour.usage !== null) answer.usage = renderUsage(behaviour);
  return answer;
}

function head(context: RenderContext, object: string): JsonObject {
  return { id: 'chatcmpl-fake', object, created: CREATED, model: context.model, system_fingerprint: 'fp_fake' };
}

function renderUsage(behaviour: FakeBehaviour): JsonObject {
  const { prompt, completion, cached, reasoning } = usageCounts(behaviour);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  };
}

function renderEvents(behaviour: FakeBehaviour, context: RenderContext): string[] {
  const chunks = choiceIndexes(behaviour).flatMap((index) => choiceChunks(behaviour, context, index));
  const last = chunks.at(-1) as JsonObject;
  const usage = context.includeUsage && behaviour.usage !== null ? renderUsage(behaviour) : undefined;
  if (usage !== undefined && behaviour.usageOn === 'finish-chunk') last.usage = usage;
  if (usage !== undefined && behaviour.usageOn !== 'finish-chunk') {
    chunks.push({ ...head(context, 'chat.completion.chunk'), choices: [], usage });
  }
  const events = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`);
  return behaviour.noDone === true ? events : [...events, 'data: [DONE]\n\n'];
}

function choiceIndexes({ n = 1 }: FakeBehaviour): number[] {
  return Array.from({ length: n }, (_, index) => index);
}

function choiceChunks(behaviour: FakeBehaviour, context: RenderContext, index: number): JsonObject[] {
  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    ...head(context, 'chat.completion.chunk'),
    choices: [{ index, delta, logprobs: null, finish_reason: finish }],
  });
  const role = chunk({ role: 'assistant', content: behaviour.toolCalls === undefined ? '' : null });
  return [role, ...contentDeltas(behaviour).map((delta) => chunk(delta)), chunk({}, finishReason(behaviour))];
}

function contentDeltas(behaviour: FakeBehaviour): JsonObject[] {
  const { reasoning, refusal, toolCalls } = behaviour;
  const thoughts =
    reasoning === undefined ? [] : halves(reasoning, behaviour).map((text) => ({ reasoning_content: text }));
  if (refusal !== undefined) return [...thoughts, { refusal }];
  if (toolCalls === undefined) return [...thoughts, ...textPieces(behaviour).map((content) => ({ content }))];
  const calls = toolCalls.flatMap((call, index): JsonObject[] => [
    { tool_calls: [{ index, id: callId(index), type: 'function', function: { name: call.name, arguments: '' } }] },
    ...halves(call.arguments, behaviour).map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ]);
  return [...thoughts, ...calls];
}

/** `GET /v1/models` */
export const renderModels = (ids: readonly string[] = ['fake-model']): JsonObject => ({
  object: 'list',
  data: ids.map((id) => ({ id, object: 'model', owned_by: 'fake' })),
});
