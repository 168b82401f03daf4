import type { ChatRequest } from '../chat/request';
import { type PriceContext, priceOf, roundedNanoUsd, type TokenClass } from './compute-cost';
import { estimatePromptTokens, type RequestWeight } from './estimate-tokens';
import type { PricedModel, TokenPrices } from './price-book';

export interface HoldOptions {
  readonly strict: boolean;
  /** The project's `default_output_tokens`, for requests without a limit of their own. */
  readonly defaultOutputTokens: number;
}

export interface HoldEstimate {
  /** Integer nano-USD to set aside. */
  readonly holdNanoUsd: number;
  /** The input part of it: what certainly was sent. */
  readonly inputNanoUsd: number;
  /** Prompt plus output tokens, for tokens-per-minute. */
  readonly tokens: number;
  readonly outputTokens: number;
  /** At whose prices. */
  readonly context: PriceContext;
}

const INPUT_CLASSES: readonly TokenClass[] = ['input', 'cache_read', 'cache_write', 'cache_write_1h'];
const OUTPUT_CLASSES: readonly TokenClass[] = ['output', 'reasoning'];

/**
 * The most a request is expected to cost on the dearest of the targets that may answer it.
 * Targets without a price count 0 here; whether they may be used at all is the caller's decision.
 */
export function estimateHold(
  request: ChatRequest,
  weight: RequestWeight,
  targets: readonly (PricedModel | undefined)[],
  options: HoldOptions,
): HoldEstimate {
  const prompt = estimatePromptTokens(weight, options.strict);
  const output = (request.maxOutputTokens ?? options.defaultOutputTokens) * countAnswers(request);
  const context: PriceContext = { promptTokens: prompt, serviceTier: holdTier(request.serviceTier) };
  let holdNanoUsd = 0;
  let inputNanoUsd = 0;
  for (const target of targets) {
    if (target === undefined) continue;
    const inputPrice = dearest(target.prices, audioClasses(INPUT_CLASSES, 'input_audio', weight.audios > 0), context);
    const wantsAudio = request.extra.modalities !== undefined || request.extra.audio !== undefined;
    const outputPrice = dearest(target.prices, audioClasses(OUTPUT_CLASSES, 'output_audio', wantsAudio), context);
    holdNanoUsd = Math.max(
      holdNanoUsd,
      roundedNanoUsd([
        [prompt, inputPrice],
        [output, outputPrice],
      ]),
    );
    inputNanoUsd = Math.max(inputNanoUsd, roundedNanoUsd([[prompt, inputPrice]]));
  }
  return { holdNanoUsd, inputNanoUsd, tokens: prompt + output, outputTokens: output, context };
}

/** The part of a hold that one side of an answer has, where this target gave it; text only. */
export function heldForSide(
  { outputTokens, context }: HoldEstimate,
  side: 'input' | 'output',
  { prices }: PricedModel,
): number {
  if (side === 'input') return roundedNanoUsd([[context.promptTokens, dearest(prices, INPUT_CLASSES, context)]]);
  return roundedNanoUsd([[outputTokens, dearest(prices, OUTPUT_CLASSES, context)]]);
}

/** Answers that are billed, given or not. */
function countAnswers({ n = 1, prompt }: ChatRequest): number {
  return prompt === undefined ? n : prompt.prompts.length * Math.max(n, prompt.bestOf ?? 1);
}

function audioClasses(base: readonly TokenClass[], audio: TokenClass, applies: boolean): readonly TokenClass[] {
  return applies ? [...base, audio] : base;
}

function dearest(prices: TokenPrices, classes: readonly TokenClass[], context: PriceContext): number {
  let most = 0;
  for (const tokenClass of classes) most = Math.max(most, priceOf(prices, tokenClass, context));
  return most;
}

/** Possible billing of a requested tier: discounts are never assumed. */
const HELD_TIERS: ReadonlyMap<string | undefined, string> = new Map([
  ...(['auto', 'priority', 'fast'] as const).map((tier): [string, string] => [tier, 'priority']),
  ['ultrafast', 'ultrafast'],
]);

const holdTier = (serviceTier: string | undefined): string | undefined => HELD_TIERS.get(serviceTier?.toLowerCase());
