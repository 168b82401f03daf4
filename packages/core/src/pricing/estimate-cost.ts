import type { ChatRequest, TextPrompt } from '../chat/request';
import type { PriceContext } from './class-prices';
import { costOf, pricesIn, roundedNanoUsd } from './compute-cost';
import { estimatePromptTokens, type RequestWeight } from './estimate-tokens';
import type { PricedModel } from './price-book';

export interface HoldOptions {
  readonly strict: boolean;
  /** The project's `default_output_tokens`, for requests without a limit of their own. */
  readonly defaultOutputTokens: number;
}

export interface HoldEstimate {
  /** Integer nano-USD to set aside. */
  readonly holdNanoUsd: number;
  /** Part of the input, which was certainly sent. */
  readonly inputNanoUsd: number;
  /** Prompt plus output tokens, for tokens-per-minute. */
  readonly tokens: number;
  readonly outputTokens: number;
  /** Answers that share them. */
  readonly answers: number;
  /** Provider and model of the prices. */
  readonly context: PriceContext;
}

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
  const answers = request.prompt === undefined ? (request.n ?? 1) : countAnswers(request.prompt, request.n);
  const output = (request.maxOutputTokens ?? options.defaultOutputTokens) * answers;
  const context: PriceContext = {
    promptTokens: prompt,
    serviceTier: HELD_TIERS.get(request.serviceTier?.toLowerCase()),
  };
  const wantsAudio = request.extra.modalities !== undefined || request.extra.audio !== undefined;
  let mostPico = 0;
  let mostInput = 0;
  let dearestInput = 0;
  let dearestOutput = 0;
  for (const target of targets) {
    if (target === undefined) continue;
    const prices = pricesIn(target.prices, context);
    const audioPrice = weight.audios > 0 ? prices.input_audio : 0;
    const imagePrice = weight.images > 0 ? prices.input_image : 0;
    const inputPrice = Math.max(prices.dearest_input, audioPrice, imagePrice);
    const outputPrice = wantsAudio ? Math.max(prices.dearest_output, prices.output_audio) : prices.dearest_output;
    const pico = prompt * inputPrice + output * outputPrice;
    mostInput = Math.max(mostInput, inputPrice);
    if (pico <= mostPico) continue;
    mostPico = pico;
    dearestInput = inputPrice;
    dearestOutput = outputPrice;
  }
  const isExact = mostPico <= Number.MAX_SAFE_INTEGER;
  const holdNanoUsd = isExact
    ? costOf(mostPico, 1)
    : roundedNanoUsd([
        [prompt, dearestInput],
        [output, dearestOutput],
      ]);
  const inputNanoUsd = costOf(prompt, mostInput);
  return { holdNanoUsd, inputNanoUsd, tokens: prompt + output, outputTokens: output, answers, context };
}

/** The part of a hold that one side of an answer has, where this target gave it; text only. */
export function heldForSide(
  { outputTokens, context }: HoldEstimate,
  side: 'input' | 'output',
  { prices }: PricedModel,
): number {
  const each = pricesIn(prices, context);
  return side === 'input'
    ? costOf(context.promptTokens, each.dearest_input)
    : costOf(outputTokens, each.dearest_output);
}

/** Answers that are billed, given or not. */
function countAnswers({ prompts, bestOf = 1 }: TextPrompt, n = 1): number {
  return prompts.length * Math.max(n, bestOf);
}

/** Possible billing of a requested tier: discounts are never assumed. */
const HELD_TIERS: ReadonlyMap<string | undefined, string> = new Map([
  ...(['auto', 'priority', 'fast'] as const).map((tier): [string, string] => [tier, 'priority']),
  ['ultrafast', 'ultrafast'],
]);
