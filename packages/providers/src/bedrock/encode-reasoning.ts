import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { encodeReasoning as encodeClaudeReasoning } from '../claude/reasoning';
import { effortOfBudget } from '../translation/effort-by-budget';
import { asObject } from '../translation/read-json';
import type { DroppedParameters } from '../translation/refuse-parameter';
import { hasSignedReasoning } from './encode-messages';
import type { ModelQuirks } from './quirks';

export interface ReasoningInput {
  readonly request: ChatRequest;
  readonly quirks: ModelQuirks;
  readonly maxTokens: number;
  /** The caller or the project limits the output. */
  readonly hasLimit: boolean;
  readonly toolForced: boolean;
  readonly dropped: DroppedParameters;
}

/** `reasoning_effort` in the words of the models that know three. */
const THREE_EFFORTS: ReadonlyMap<string, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
]);

/** The model's own reasoning fields, for `additionalModelRequestFields`. */
export function encodeReasoning(input: ReasoningInput): JsonObject {
  return BY_KIND[input.quirks.reasoning](input);
}

const BY_KIND = {
  claude: encodeForClaude,
  nova: encodeForNova,
  effort: (input) => withEffort(input, (effort) => ({ reasoning_effort: effort })),
  none: ({ request, dropped }) => {
    if (request.thinking !== undefined && request.thinking.type !== 'disabled')
      dropped.refuse('thinking', 'is not supported by');
    if (request.reasoningEffort !== undefined && request.reasoningEffort !== 'none') {
      dropped.refuse('reasoning_effort', 'is not supported by');
    }
    return {};
  },
} as const satisfies Record<ModelQuirks['reasoning'], (input: ReasoningInput) => JsonObject>;

/** Source: https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html */
function encodeForClaude({ quirks, ...input }: ReasoningInput): JsonObject {
  if (quirks.claude === undefined) return {};
  const { thinking, effort } = encodeClaudeReasoning({ ...input, quirks: quirks.claude, hasSignedReasoning });
  return {
    ...(thinking === undefined ? {} : { thinking }),
    ...(effort === undefined ? {} : { output_config: { effort } }),
  };
}

const NOVA_HIGHEST = 'high';
const NOVA_BOUNDED = 'medium';

/**
 * The highest effort excludes limits and sampling. A limit protects money and stays, so the next lower effort is used
 * and reported. Source: https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
 */
function encodeForNova(input: ReasoningInput): JsonObject {
  const { request, hasLimit, dropped } = input;
  const isBounded = hasLimit || request.temperature !== undefined || request.topP !== undefined;
  return withEffort(input, (effort) => {
    if (effort === NOVA_HIGHEST && isBounded) {
      dropped.note(request.reasoningEffort === undefined ? 'thinking' : 'reasoning_effort');
    }
    const maxReasoningEffort = effort === NOVA_HIGHEST && isBounded ? NOVA_BOUNDED : effort;
    return { reasoningConfig: { type: 'enabled', maxReasoningEffort } };
  });
}

/** True if `inferenceConfig` must be empty beside the model's own fields. */
export function thinksUnbounded(own: JsonObject): boolean {
  return asObject(own.reasoningConfig)?.maxReasoningEffort === NOVA_HIGHEST;
}

/** Effort for models that need one when the caller sends none. */
const ADAPTIVE_EFFORT = 'medium';

function withEffort({ request, dropped }: ReasoningInput, write: (effort: string) => JsonObject): JsonObject {
  const asked = request.reasoningEffort ?? effortOfThinking(request.thinking);
  if (asked === undefined || asked === 'none') return {};
  const effort = THREE_EFFORTS.get(asked);
  if (effort !== undefined) return write(effort);
  dropped.refuse('reasoning_effort', `"${asked}" is unknown to`);
  return {};
}

function effortOfThinking(thinking: JsonObject | undefined): string | undefined {
  if (thinking === undefined || thinking.type === 'disabled') return undefined;
  return effortOfBudget(thinking) ?? ADAPTIVE_EFFORT;
}
