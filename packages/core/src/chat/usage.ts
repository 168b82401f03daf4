/** What a vendor bills besides tokens; seconds may be fractional. */
export interface Units {
  readonly images?: number;
  readonly seconds?: number;
  readonly characters?: number;
  readonly pages?: number;
  readonly searches?: number;
  readonly sessionSeconds?: number;
}

/**
 * Token usage in disjoint classes: no token is counted in two fields.
 * prompt = input + cacheRead + cacheWrite + cacheWrite1h + inputAudio + cacheReadAudio + inputImage + cacheReadImage;
 * completion = output + reasoning + outputAudio + outputImage.
 */
export interface Usage {
  /** Input tokens billed at the plain input price. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Written with a longer lifetime: an hour, twelve hours. */
  readonly cacheWrite1hTokens: number;
  readonly inputAudioTokens: number;
  /** Visible output tokens (text and tool calls). */
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly outputAudioTokens: number;
  readonly cacheReadAudioTokens?: number;
  readonly inputImageTokens?: number;
  readonly cacheReadImageTokens?: number;
  readonly outputImageTokens?: number;
  readonly units?: Units;
  /** `<quality>_<width>x<height>` of the images in `units`, for models priced by it. */
  readonly imageVariant?: string;
  /** What another model of the vendor used for the answer, at its own price; `model`: as the vendor names it. */
  readonly helper?: { readonly model: string | undefined; readonly usage: Usage } | undefined;
  /** Integer nano-USD that the vendor bills besides tokens: searches, sources. */
  readonly feeNanoUsd?: number;
  /** Billed service tier by the vendor's report (`flex`, `priority`, `fast`, …); absent = standard. */
  readonly serviceTier?: string;
  /** Surcharge of an answer from one region. */
  readonly surchargePercent?: number;
  /** True if the gateway estimated missing counts. */
  readonly estimated?: boolean;
  /** Counts that the vendor omitted; the present ones are lower bounds. `fillUsage` fills them before booking. */
  readonly untold?: Untold | undefined;
  /** The vendor's total without sides: a lower bound as well. */
  readonly totalTokens?: number;
}

type Changing = { -readonly [K in keyof Usage]: Usage[K] };

/** Unreported sides of an answer's usage. */
export type Untold = 'input' | 'output' | 'both';

export const ZERO_USAGE = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  inputAudioTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  outputAudioTokens: 0,
} satisfies Usage;

/** Sums the usage of several calls. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Changing = { ...a, ...b };
  for (const name of COUNTS) sum[name] = a[name] + b[name];
  for (const name of SOMETIMES) if (sum[name] !== undefined) sum[name] = (a[name] ?? 0) + (b[name] ?? 0);
  if (sum.units !== undefined) sum.units = joinUnits(a.units, b.units, (one, other) => one + other);
  if (a.helper !== undefined && b.helper !== undefined) {
    sum.helper = { model: b.helper.model ?? a.helper.model, usage: addUsage(a.helper.usage, b.helper.usage) };
  }
  const feeNanoUsd = (a.feeNanoUsd ?? 0) + (b.feeNanoUsd ?? 0);
  if (feeNanoUsd > 0) sum.feeNanoUsd = feeNanoUsd;
  if (a.estimated === true) sum.estimated = true;
  if (a.untold === undefined && b.untold === undefined) return sum;
  sum.untold = untoldOf(isUntold(a, 'input') || isUntold(b, 'input'), isUntold(a, 'output') || isUntold(b, 'output'));
  return { ...sum, totalTokens: totalOf(a) + totalOf(b) };
}

const totalOf = (usage: Usage) => Math.max(usage.totalTokens ?? 0, promptTokens(usage) + completionTokens(usage));

const INPUT = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'cacheWrite1hTokens', 'inputAudioTokens'] as const;
const OUTPUT = ['outputTokens', 'reasoningTokens', 'outputAudioTokens'] as const;
const COUNTS = [...INPUT, ...OUTPUT];
const SOMETIMES = ['cacheReadAudioTokens', 'inputImageTokens', 'cacheReadImageTokens', 'outputImageTokens'] as const;
const SIDES = {
  input: [...INPUT, 'cacheReadAudioTokens', 'inputImageTokens', 'cacheReadImageTokens'],
  output: [...OUTPUT, 'outputImageTokens'],
} as const;

/** Both reports' units, joined one by one. */
function joinUnits(a: Units = {}, b: Units = {}, join: (one: number, other: number) => number): Units {
  const joined: { -readonly [K in keyof Units]: Units[K] } = { ...a, ...b };
  for (const name of Object.keys(joined) as (keyof Units)[]) joined[name] = join(a[name] ?? 0, b[name] ?? 0);
  return joined;
}

export const isUntold = ({ untold }: Usage, side: 'input' | 'output'): boolean => untold === side || untold === 'both';

/** undefined if both sides are reported. */
export function untoldOf(input: boolean, output: boolean): Untold | undefined {
  if (input) return output ? 'both' : 'input';
  return output ? 'output' : undefined;
}

/** Its tokens of one side only. */
export function sideOf(usage: Usage, side: 'input' | 'output'): Usage {
  const only: Changing = { ...ZERO_USAGE };
  copySide(only, usage, side);
  return only;
}

function copySide(to: Changing, from: Usage, side: 'input' | 'output'): void {
  for (const name of SIDES[side]) if (from[name] !== undefined || to[name] !== undefined) to[name] = from[name] ?? 0;
}

/** Nothing but counts, of both sides. */
const isPlain = (usage: Usage): boolean =>
  usage.untold === undefined &&
  usage.totalTokens === undefined &&
  usage.estimated === undefined &&
  usage.units === undefined &&
  usage.feeNanoUsd === undefined &&
  usage.serviceTier === undefined &&
  usage.surchargePercent === undefined;

const isAtLeast = (a: Usage, b: Usage): boolean =>
  promptTokens(a) >= promptTokens(b) && completionTokens(a) >= completionTokens(b);

/** Larger side of two reports of one answer, the later one if equal. */
export function largerUsage(before: Usage, now: Usage): Usage {
  if (isPlain(before) && isPlain(now) && isAtLeast(now, before)) return now;
  const larger: Changing = { ...before, ...now };
  const [input, output] = [promptTokens(before), completionTokens(before)];
  copySide(larger, input > promptTokens(now) ? before : now, 'input');
  copySide(larger, output > completionTokens(now) ? before : now, 'output');
  if (larger.units !== undefined) larger.units = joinUnits(before.units, now.units, Math.max);
  if (before.feeNanoUsd !== undefined) larger.feeNanoUsd = Math.max(before.feeNanoUsd, now.feeNanoUsd ?? 0);
  if (before.untold === undefined && now.untold === undefined) return larger;
  // Zero counts if the other report has none either.
  const tellsInput = (one: Usage, other: Usage) =>
    !isUntold(one, 'input') && (promptTokens(one) > 0 || promptTokens(other) === 0);
  const tellsOutput = (one: Usage, other: Usage) =>
    !isUntold(one, 'output') && (completionTokens(one) > 0 || completionTokens(other) === 0);
  const untold = untoldOf(
    !tellsInput(before, now) && !tellsInput(now, before),
    !tellsOutput(before, now) && !tellsOutput(now, before),
  );
  const { untold: _untold, totalTokens: _total, ...told } = larger;
  if (untold === undefined) return told;
  return { ...told, untold, totalTokens: Math.max(before.totalTokens ?? 0, now.totalTokens ?? 0) };
}

/** Usage with a count per side, and its estimated sides. */
export interface FilledUsage {
  readonly usage: Usage;
  readonly untold?: Untold | undefined;
}

/** True if nothing is left to estimate. */
export const isWhole = (told: Usage): boolean =>
  told.untold === undefined && promptTokens(told) > 0 && completionTokens(told) > told.reasoningTokens;

/** Estimates a side that the vendor omitted, or reported as zero despite content. `guess`: estimate of everything. */
export function fillUsage(told: Usage, guess: () => Usage): FilledUsage {
  if (isWhole(told)) return { usage: told };
  const guessed = guess();
  const isInput = isUntold(told, 'input') || promptTokens(told) === 0;
  // Thoughts alone may be told beside text that isn't counted.
  const isMore = completionTokens(told) === told.reasoningTokens && guessed.outputTokens > 0;
  const isOutput =
    isUntold(told, 'output') || isMore || (completionTokens(told) === 0 && completionTokens(guessed) > 0);
  if (!isInput && !isOutput) return { usage: told };
  const { untold: _untold, totalTokens = 0, ...counts } = told;
  const usage: Changing = { ...counts, estimated: true };
  if (isInput) usage.inputTokens += Math.max(0, promptTokens(guessed) - promptTokens(told));
  // The remaining tokens of the total are reasoning.
  const visible = isMore ? told.reasoningTokens + guessed.outputTokens : 0;
  const least = isOutput ? Math.max(completionTokens(guessed), visible, totalTokens - promptTokens(usage)) : 0;
  usage.outputTokens += Math.max(0, least - completionTokens(told));
  return { usage, untold: untoldOf(isInput, isOutput) };
}

/** Input tokens of all classes. */
export function promptTokens(usage: Usage): number {
  return (
    usage.inputTokens +
    usage.cacheReadTokens +
    usage.cacheWriteTokens +
    usage.cacheWrite1hTokens +
    usage.inputAudioTokens +
    (usage.cacheReadAudioTokens ?? 0) +
    (usage.inputImageTokens ?? 0) +
    (usage.cacheReadImageTokens ?? 0)
  );
}

/** Output tokens of all classes. */
export function completionTokens(usage: Usage): number {
  return usage.outputTokens + usage.reasoningTokens + usage.outputAudioTokens + (usage.outputImageTokens ?? 0);
}
