import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest } from '@llm0/core/chat/request';
import type { DroppedParameters } from '../translation/refuse-parameter';
import type { ModelQuirks } from './models';

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;

const MIN_BUDGET_TOKENS = 1024;
/** Thinking takes at most this share of the output limit, so that an answer is left. */
const MAX_BUDGET_SHARE = 0.5;

/** `reasoning_effort` → the effort of adaptive thinking and the token budget of older models. */
const EFFORTS: ReadonlyMap<string, { readonly effort: string; readonly budgetTokens: number }> = new Map([
  ['minimal', { effort: 'low', budgetTokens: 1024 }],
  ['low', { effort: 'low', budgetTokens: 1024 }],
  ['medium', { effort: 'medium', budgetTokens: 4096 }],
  ['high', { effort: 'high', budgetTokens: 16_384 }],
  ['xhigh', { effort: 'xhigh', budgetTokens: 32_768 }],
  ['max', { effort: 'max', budgetTokens: 63_000 }],
]);

export interface ReasoningInput {
  readonly request: ChatRequest;
  readonly quirks: ModelQuirks;
  readonly maxTokens: number;
  /** A tool is forced, which older models cannot do while thinking. */
  readonly toolForced: boolean;
  readonly dropped: DroppedParameters;
  /** True where the blocks of a signed thought lead the assistant's turn. */
  readonly hasSignedReasoning: (message: AssistantMessage) => boolean;
}

/** Fields of the request that make the model think, and how much. */
export interface EncodedReasoning {
  readonly thinking?: JsonObject;
  readonly effort?: string;
}

/** Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
export function encodeReasoning(input: ReasoningInput): EncodedReasoning {
  const { request, quirks, dropped } = input;
  if (request.thinking !== undefined) return { thinking: request.thinking, ...effortBeside(input) };
  const asked = request.reasoningEffort;
  if (asked === undefined) return {};
  if (asked === 'none') return switchOff(quirks);
  const known = EFFORTS.get(asked);
  if (known === undefined) {
    dropped.refuse('reasoning_effort', `"${asked}" is unknown to`);
    return {};
  }
  if (!quirks.adaptiveThinking) return budgeted(input, known.budgetTokens);
  const effort = quirks.highestEfforts || (known.effort !== 'xhigh' && known.effort !== 'max') ? known.effort : 'high';
  return { effort, thinking: { type: 'adaptive', ...(quirks.hiddenThinking ? { display: 'summarized' } : {}) } };
}

/** An explicit effort besides `thinking`, for models with efforts. */
function effortBeside({ request, quirks }: ReasoningInput): Pick<EncodedReasoning, 'effort'> {
  const known = EFFORTS.get(request.reasoningEffort ?? '');
  return known === undefined || !quirks.adaptiveThinking ? {} : { effort: known.effort };
}

function switchOff({ thinkingOff }: ModelQuirks): EncodedReasoning {
  if (thinkingOff === 'omit') return {};
  return thinkingOff === 'low_effort' ? { effort: 'low' } : { thinking: { type: thinkingOff } };
}

function budgeted(input: ReasoningInput, wanted: number): EncodedReasoning {
  const { request, maxTokens, toolForced, dropped } = input;
  const cannotThink =
    maxTokens <= MIN_BUDGET_TOKENS || toolForced || continuesUnsigned(request.messages, input.hasSignedReasoning);
  if (cannotThink) {
    dropped.note('reasoning_effort');
    return {};
  }
  const most = Math.max(MIN_BUDGET_TOKENS, Math.floor(maxTokens * MAX_BUDGET_SHARE));
  return { thinking: { type: 'enabled', budget_tokens: Math.min(wanted, most) } };
}

/**
 * True if tool results return without the signed reasoning before their calls: the vendor then refuses to think, and
 * other formats' clients rarely keep it.
 */
function continuesUnsigned(
  messages: readonly ChatMessage[],
  hasSignedReasoning: ReasoningInput['hasSignedReasoning'],
): boolean {
  if (messages.at(-1)?.role !== 'tool') return false;
  const last = messages.findLast((message) => message.role === 'assistant');
  return last !== undefined && !hasSignedReasoning(last);
}
