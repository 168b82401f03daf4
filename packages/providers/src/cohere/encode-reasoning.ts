import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { EncodeContext } from '../provider-request';
import type { DroppedParameters } from '../translation/refuse-parameter';

/** `reasoning_effort` → the budget of thoughts in tokens; none where the model may think as it likes. */
const BUDGETS: ReadonlyMap<string, number | undefined> = new Map([
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 4096],
  ['high', undefined],
  ['xhigh', undefined],
  ['max', undefined],
]);

/** `thinking` if the request sets reasoning. Source: https://docs.cohere.com/docs/reasoning */
export function encodeReasoning(
  { thinking, reasoningEffort }: Pick<ChatRequest, 'thinking' | 'reasoningEffort'>,
  { priced }: Pick<EncodeContext, 'priced'>,
  dropped: DroppedParameters,
): JsonObject | undefined {
  if (thinking === undefined && reasoningEffort === undefined) return undefined;
  const isOff = thinking === undefined ? reasoningEffort === 'none' : thinking.type === 'disabled';
  if (priced?.capabilities.includes('reasoning') === false) {
    if (!isOff) dropped.refuse(thinking === undefined ? 'reasoning_effort' : 'thinking', 'is not supported by');
    return undefined;
  }
  if (isOff) return { type: 'disabled' };
  if (thinking !== undefined) return enabled(thinking.budget_tokens);
  if (BUDGETS.has(reasoningEffort ?? '')) return enabled(BUDGETS.get(reasoningEffort ?? ''));
  dropped.refuse('reasoning_effort', `"${reasoningEffort}" is unknown to`);
  return undefined;
}

function enabled(budget: JsonObject[string] | undefined): JsonObject {
  return { type: 'enabled', ...(typeof budget === 'number' ? { token_budget: budget } : {}) };
}
