import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { DroppedParameters } from '../translation/refuse-parameter';
import type { ModelQuirks } from './quirks';

interface Effort {
  readonly level: string;
  readonly budgetTokens: number;
}

/** `reasoning_effort` → the level of newer models and the token budget of older ones. */
const EFFORTS: ReadonlyMap<string, Effort> = new Map([
  ['minimal', { level: 'minimal', budgetTokens: 512 }],
  ['low', { level: 'low', budgetTokens: 1024 }],
  ['medium', { level: 'medium', budgetTokens: 8192 }],
  ['high', { level: 'high', budgetTokens: 24_576 }],
  ['xhigh', { level: 'high', budgetTokens: 24_576 }],
  ['max', { level: 'high', budgetTokens: 24_576 }],
]);
const DYNAMIC_BUDGET = -1;

/** `thinkingConfig` if the request sets reasoning. Source: https://ai.google.dev/gemini-api/docs/thinking */
export function encodeReasoning(
  request: ChatRequest,
  quirks: ModelQuirks,
  dropped: DroppedParameters,
): JsonObject | undefined {
  const { thinking, reasoningEffort } = request;
  if (thinking === undefined && reasoningEffort === undefined) return undefined;
  if (quirks.thinking === 'none') {
    const isOff = thinking === undefined ? reasoningEffort === 'none' : thinking.type === 'disabled';
    if (!isOff) dropped.refuse(thinking === undefined ? 'reasoning_effort' : 'thinking', 'is not supported by');
    return undefined;
  }
  if (thinking !== undefined) return encodeThinking(thinking, quirks);
  if (reasoningEffort === 'none') return switchOff(quirks);
  const effort = EFFORTS.get(reasoningEffort ?? '');
  if (effort === undefined) {
    dropped.refuse('reasoning_effort', `"${reasoningEffort}" is unknown to`);
    return undefined;
  }
  if (quirks.thinking === 'budget') return { thinkingBudget: effort.budgetTokens, includeThoughts: true };
  const thinkingLevel = effort.level === 'minimal' ? quirks.lowestLevel : effort.level;
  return { thinkingLevel, includeThoughts: true };
}

/** `{type: enabled, budget_tokens}`, `adaptive` or `disabled`, in another vendor's format. */
function encodeThinking(thinking: JsonObject, quirks: ModelQuirks): JsonObject {
  if (thinking.type === 'disabled') return switchOff(quirks);
  const budget = typeof thinking.budget_tokens === 'number' ? thinking.budget_tokens : DYNAMIC_BUDGET;
  return { thinkingBudget: budget, includeThoughts: true };
}

function switchOff(quirks: ModelQuirks): JsonObject {
  return quirks.thinking === 'budget'
    ? { thinkingBudget: quirks.minBudgetTokens }
    : { thinkingLevel: quirks.lowestLevel };
}
