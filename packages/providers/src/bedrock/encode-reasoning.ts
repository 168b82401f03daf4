import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { encodeReasoning as encodeClaudeReasoning } from '../claude-reasoning';
import type { DroppedParameters } from '../refuse-parameter';
import { hasSignedReasoning } from './encode-messages';
import type { ModelQuirks } from './quirks';

export interface ReasoningInput {
  readonly request: ChatRequest;
  readonly quirks: ModelQuirks;
  readonly maxTokens: number;
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

/** The model's own fields that make it think, and how much; they go among `additionalModelRequestFields`. */
export function encodeReasoning(input: ReasoningInput): JsonObject {
  return BY_KIND[input.quirks.reasoning](input);
}

const BY_KIND = {
  claude: encodeForClaude,
  nova: (input) =>
    withEffort(input, (maxReasoningEffort) => ({ reasoningConfig: { type: 'enabled', maxReasoningEffort } })),
  effort: (input) => withEffort(input, (effort) => ({ reasoning_effort: effort })),
  none: ({ request, dropped }) => {
    if (request.thinking !== undefined) dropped.refuse('thinking', 'is not supported by');
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

function withEffort({ request, dropped }: ReasoningInput, write: (effort: string) => JsonObject): JsonObject {
  if (request.thinking !== undefined) dropped.refuse('thinking', 'is not supported by');
  const asked = request.reasoningEffort;
  if (asked === undefined || asked === 'none') return {};
  const effort = THREE_EFFORTS.get(asked);
  if (effort !== undefined) return write(effort);
  dropped.refuse('reasoning_effort', `"${asked}" is unknown to`);
  return {};
}
