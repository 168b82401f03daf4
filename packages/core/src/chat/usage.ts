/**
 * Token usage in disjoint classes: no token is counted in two fields.
 * prompt = input + cacheRead + cacheWrite + cacheWrite1h + inputAudio; completion = output + reasoning + outputAudio.
 */
export interface Usage {
  /** Input tokens billed at the plain input price. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly inputAudioTokens: number;
  /** Visible output tokens (text and tool calls). */
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly outputAudioTokens: number;
  /** Integer nano-USD that the vendor bills beside tokens: searches, sources. */
  readonly feeNanoUsd?: number;
  /** The service tier the vendor says it billed (`flex`, `priority`, …); absent = standard. */
  readonly serviceTier?: string;
  /** True when the vendor reported nothing and the gateway counted by itself. */
  readonly estimated?: boolean;
}

export const ZERO_USAGE: Usage = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  inputAudioTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  outputAudioTokens: 0,
};

/** Of several calls. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = { ...a, ...b };
  for (const name of COUNTS) sum[name] = a[name] + b[name];
  const feeNanoUsd = (a.feeNanoUsd ?? 0) + (b.feeNanoUsd ?? 0);
  const fees = feeNanoUsd === 0 ? {} : { feeNanoUsd };
  return a.estimated === true ? { ...sum, ...fees, estimated: true } : { ...sum, ...fees };
}

const COUNTS = Object.keys(ZERO_USAGE) as (keyof Omit<Usage, 'serviceTier' | 'estimated' | 'feeNanoUsd'>)[];

/** All input tokens, whatever their class. */
export function promptTokens(usage: Usage): number {
  return (
    usage.inputTokens +
    usage.cacheReadTokens +
    usage.cacheWriteTokens +
    usage.cacheWrite1hTokens +
    usage.inputAudioTokens
  );
}

/** All output tokens, whatever their class. */
export function completionTokens(usage: Usage): number {
  return usage.outputTokens + usage.reasoningTokens + usage.outputAudioTokens;
}
