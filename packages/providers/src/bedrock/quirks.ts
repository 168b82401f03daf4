import { type ModelQuirks as ClaudeQuirks, quirksOf as claudeQuirksOf } from '../claude/models';

/** Options of one maker's models beside the common ones of Converse. */
export interface ModelQuirks {
  /** Set for the models that have it. */
  readonly claude?: ClaudeQuirks;
  /** Thinking effort in the model's own field. */
  readonly reasoning: 'claude' | 'nova' | 'effort' | 'none';
  /** Place of `top_k` among the model's own fields. */
  readonly topK: 'top_k' | 'inferenceConfig' | 'none';
  /** `outputConfig.textFormat`, if the price book lists schema support. */
  readonly nativeSchemas: boolean;
  /** A tool can be forced on it. */
  readonly forcedTools: boolean;
}

/** `us.anthropic.claude-…`, `eu-west-1/amazon.nova-…`, `arn:aws:bedrock:…:inference-profile/us.meta.llama…` → maker. */
const MAKER = /(?:^|[/.])(anthropic|amazon|openai|mistral|meta|cohere|ai21)\./;

const GENERIC: ModelQuirks = { reasoning: 'none', topK: 'none', nativeSchemas: true, forcedTools: false };

const NOVA: ModelQuirks = { ...GENERIC, topK: 'inferenceConfig', nativeSchemas: false, forcedTools: true };

/** Source: https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html */
const BY_MAKER: Readonly<Record<string, ModelQuirks>> = {
  amazon: NOVA,
  openai: { ...GENERIC, reasoning: 'effort' },
  mistral: { ...GENERIC, topK: 'top_k', forcedTools: true },
  meta: { ...GENERIC, nativeSchemas: false },
  cohere: { ...GENERIC, nativeSchemas: false },
  ai21: { ...GENERIC, nativeSchemas: false },
};

/** The second generation thinks; the first refuses to be asked. */
const THINKING_NOVA = /(?:^|[/.])amazon\.nova-[2-9]/;

export function quirksOf(model: string): ModelQuirks {
  const maker = MAKER.exec(model)?.[1];
  if (THINKING_NOVA.test(model)) return { ...NOVA, reasoning: 'nova' };
  if (maker !== 'anthropic') return (maker === undefined ? undefined : BY_MAKER[maker]) ?? GENERIC;
  const claude = claudeQuirksOf(model);
  return { claude, reasoning: 'claude', topK: 'top_k', nativeSchemas: true, forcedTools: !claude.noForcedTool };
}
