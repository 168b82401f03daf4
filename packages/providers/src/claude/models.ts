/** Parameters of a model family; the price book doesn't have them. */
export interface ModelQuirks {
  /** `thinking: adaptive` with an effort, instead of a token budget. */
  readonly adaptiveThinking: boolean;
  /** Adaptive thinking that is only shown when asked for. */
  readonly hiddenThinking: boolean;
  /** `xhigh` and `max` efforts. */
  readonly highestEfforts: boolean;
  /** Minimal thinking: off, or the lowest effort. */
  readonly thinkingOff: 'omit' | 'disabled' | 'between_tools' | 'low_effort';
  /** Takes `temperature`, `top_p` and `top_k` at their defaults only. */
  readonly fixedSampling: boolean;
  /** Tools cannot be forced on it. */
  readonly noForcedTool: boolean;
  /** Output limit of models without a price-book entry. */
  readonly maxOutputTokens: number;
}

/** Parameters without a counterpart in these models, on any host. */
export const LACKING = [
  'n',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'logprobs',
  'topLogprobs',
  'logitBias',
] as const;

interface Version {
  readonly family: string;
  readonly number: number;
}

/** `claude-opus-4-7-20260416` → opus 4.7, `claude-3-5-haiku-latest` → haiku 3.5. */
function readVersion(model: string): Version | undefined {
  const current = /claude-([a-z]+)-(\d+)(?:[.-](\d{1,2}))?(?!\d)/i.exec(model);
  if (current !== null) return version(current[1], current[2], current[3]);
  const older = /claude-(\d)(?:[.-](\d))?-([a-z]+)/i.exec(model);
  return older === null ? undefined : version(older[3], older[1], older[2]);
}

function version(family = '', major = '0', minor = '0'): Version {
  return { family: family.toLowerCase(), number: Number(major) * 100 + Number(minor) };
}

/** First version of each family with a feature; unlisted families lack it. */
type Since = Readonly<Record<string, number>>;

const ADAPTIVE: Since = { sonnet: 406, opus: 406, haiku: 505, fable: 0, mythos: 0 };
const FIXED_SAMPLING: Since = { sonnet: 500, opus: 407, haiku: 505, fable: 0, mythos: 0 };
const NO_FORCED_TOOL: Since = { sonnet: 505, opus: 505, fable: 501, mythos: 501 };
const ALWAYS_THINKS: Since = { opus: 505, fable: 0, mythos: 0 };
const THINKS_BETWEEN_TOOLS: Since = { sonnet: 505 };
const THINKS_BY_DEFAULT: Since = { sonnet: 500, opus: 500, haiku: 505 };

/** Output limits of older models; later ones take at least the last. */
const OLDER_LIMITS: readonly (readonly [RegExp, number])[] = [
  [/claude-3-(?:opus|sonnet|haiku)|claude-(?:2|instant)/, 4096],
  [/claude-3-5/, 8192],
  [/claude-opus-4(?:-[01])?(?:-\d{8})?$/, 32_000],
];
const DEFAULT_LIMIT = 64_000;

/** Callers make up names, so all of them go at once beyond this number. */
const MOST_KNOWN = 1000;
const KNOWN = new Map<string, ModelQuirks>();

export function quirksOf(model: string): ModelQuirks {
  const known = KNOWN.get(model);
  if (known !== undefined) return known;
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear();
  const quirks = readQuirks(model);
  KNOWN.set(model, quirks);
  return quirks;
}

/** Sources: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking and its migration guides. */
function readQuirks(model: string): ModelQuirks {
  const found = readVersion(model);
  const holds = (since: Since) => {
    const from = found === undefined ? undefined : since[found.family];
    return found !== undefined && from !== undefined && found.number >= from;
  };
  return {
    adaptiveThinking: holds(ADAPTIVE),
    hiddenThinking: holds(FIXED_SAMPLING),
    highestEfforts: holds(FIXED_SAMPLING),
    thinkingOff: thinkingOff(holds),
    fixedSampling: holds(FIXED_SAMPLING),
    noForcedTool: holds(NO_FORCED_TOOL),
    maxOutputTokens: OLDER_LIMITS.find(([pattern]) => pattern.test(model))?.[1] ?? DEFAULT_LIMIT,
  };
}

function thinkingOff(holds: (since: Since) => boolean): ModelQuirks['thinkingOff'] {
  if (holds(ALWAYS_THINKS)) return 'low_effort';
  if (holds(THINKS_BETWEEN_TOOLS)) return 'between_tools';
  return holds(THINKS_BY_DEFAULT) ? 'disabled' : 'omit';
}
