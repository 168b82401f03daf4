import type { ChatMessage, ChatRequest, ContentPart, TextPrompt, Tool } from '../chat/request';
import { USUAL_IMAGE_TOKENS } from '../tasks/image';
import { refuseUnbounded } from '../tasks/task-request';
import type { PriceContext } from './class-prices';
import { costOf, pricesIn, roundedNanoUsd } from './compute-cost';
import { countReferences } from './count-references';
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
  const limit = request.maxOutputTokens ?? options.defaultOutputTokens;
  const output = answers * (limit === 0 ? 0 : Math.max(limit, imageTokens(targets, options.strict)));
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

/** The most tokens of an image that a target may draw, whatever the limit of its text; 0 for models that draw none. */
function imageTokens(targets: readonly (PricedModel | undefined)[], strict: boolean): number {
  let most = 0;
  for (const target of targets) {
    if (target?.prices.output_image === undefined) continue;
    if (!strict) return USUAL_IMAGE_TOKENS;
    const { provider, model, maxOutputTokens } = target;
    if (maxOutputTokens === undefined) {
      const what = `an image of ${provider}/${model}, which has no "max_output_tokens" in the price book,`;
      throw refuseUnbounded('model', what);
    }
    most = Math.max(most, maxOutputTokens);
  }
  return most;
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

/** Estimated size of a request. */
export interface RequestWeight {
  /** UTF-8 bytes of all text: messages, names, tool calls, tool definitions, schemas. */
  readonly textBytes: number;
  /** JSON bytes of unknown fields: they may contain prompt text, so strict caps count them. */
  readonly unknownBytes: number;
  readonly messages: number;
  readonly images: number;
  readonly audios: number;
  readonly files: number;
  /** Tools only a vendor understands (web search, code interpreter, …): no bound can be given for them. */
  readonly builtInTools: number;
}

export const NO_WEIGHT: RequestWeight = {
  textBytes: 0,
  unknownBytes: 0,
  messages: 0,
  images: 0,
  audios: 0,
  files: 0,
  builtInTools: 0,
};

const NO_TOOLS: readonly Tool[] = [];

/** Measures a request for the hold and for context-window checks. */
export function weighRequest(request: ChatRequest): RequestWeight {
  const weight = { ...NO_WEIGHT, messages: request.messages.length };
  for (const message of request.messages) addMessage(weight, message);
  for (const tool of request.tools ?? NO_TOOLS) addTool(weight, tool);
  if (request.prompt !== undefined) addPrompt(weight, request.prompt);
  if (request.responseFormat?.type === 'json_schema') weight.textBytes += jsonBytes(request.responseFormat.schema);
  for (const name in request.extra) {
    const bytes = jsonBytes(request.extra[name]);
    if (PROMPT_FIELDS.has(name)) weight.textBytes += bytes;
    else if (!DELIVERY_FIELDS.has(name)) weight.unknownBytes += bytes;
  }
  return weight;
}

/** Unknown fields whose text the model reads. */
const PROMPT_FIELDS: ReadonlySet<string> = new Set(['functions', 'prediction', 'documents']);
const DELIVERY_FIELDS: ReadonlySet<string> = new Set(['stream_options', 'store']);

type MutableWeight = { -readonly [K in keyof RequestWeight]: RequestWeight[K] };

function addMessage(weight: MutableWeight, message: ChatMessage): void {
  for (const part of message.content) {
    if (part.type === 'text') weight.textBytes += Buffer.byteLength(part.text);
    else PART_WEIGHERS[part.type](weight, part as never);
  }
  if ('name' in message && message.name !== undefined) weight.textBytes += Buffer.byteLength(message.name);
  if (message.role !== 'assistant') return;
  for (const call of message.toolCalls ?? []) {
    weight.textBytes += Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments);
  }
  for (const part of message.reasoning ?? []) {
    weight.textBytes += Buffer.byteLength(part.text ?? '') + Buffer.byteLength(part.data ?? '');
  }
  if (message.raw === undefined) return;
  const { content: _counted, ...others } = message.raw.value;
  weight.files += countReferences(others);
  weight.textBytes += jsonBytes(message.raw.value);
}

const PART_WEIGHERS: {
  [K in Exclude<ContentPart['type'], 'text'>]: (w: MutableWeight, part: Extract<ContentPart, { type: K }>) => void;
} = {
  refusal: (w, part) => {
    w.textBytes += Buffer.byteLength(part.text);
  },
  image: (w) => {
    w.images += 1;
  },
  audio: (w) => {
    w.audios += 1;
  },
  file: (w) => {
    w.files += 1;
  },
  raw: (w, part) => {
    w.files += countReferences(part.value);
    w.textBytes += jsonBytes(part.value);
  },
};

/** Adds text outside of messages; the suffix counts with each prompt. */
function addPrompt(weight: MutableWeight, { prompts, suffix = '' }: TextPrompt): void {
  weight.textBytes += prompts.length * Buffer.byteLength(suffix);
  for (const prompt of prompts)
    if (typeof prompt !== 'string') weight.textBytes += BYTES_PER_TOKEN_HOLD * prompt.length;
}

function addTool(weight: MutableWeight, tool: Tool): void {
  if (tool.type === 'raw') {
    weight.builtInTools += 1;
    weight.textBytes += jsonBytes(tool.value);
    return;
  }
  weight.textBytes += Buffer.byteLength(tool.name) + Buffer.byteLength(tool.description ?? '');
  if (tool.parameters !== undefined) weight.textBytes += jsonBytes(tool.parameters);
}

function jsonBytes(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

/** UTF-8 bytes of text that make one token when nothing better is known: cautious for the hold. */
const BYTES_PER_TOKEN_HOLD = 3;
const TOKENS_PER_MESSAGE = 4;
/** Assumed size of an image, audio or file without a bound in the price book. */
export const UNBOUNDED_MEDIA_TOKENS = 40_000;

/** Upper estimate of the prompt for the hold (contract: limits and money). `strict`: one byte = one token. */
export function estimatePromptTokens(weight: RequestWeight, strict: boolean): number {
  const text = strict ? weight.textBytes + weight.unknownBytes : Math.ceil(weight.textBytes / BYTES_PER_TOKEN_HOLD);
  const media = weight.images + weight.audios + weight.files;
  return text + TOKENS_PER_MESSAGE * weight.messages + UNBOUNDED_MEDIA_TOKENS * media;
}

/** Estimates the tokens of a text, for answers without usage. */
export function guessTokens(utf8Bytes: number): number {
  return Math.ceil(utf8Bytes / 4);
}

/** Default tokens of an image or a document page. */
const COMMON_MEDIA_TOKENS = 1500;

/** Estimates the context of a request with prompts: the longest of them. */
export function guessContextTokens(prompt: TextPrompt): number {
  const lengths = prompt.prompts.map((one) =>
    typeof one === 'string' ? guessTokens(Buffer.byteLength(one)) : one.length,
  );
  return Math.max(...lengths) + guessTokens(Buffer.byteLength(prompt.suffix ?? ''));
}

/** Estimates a whole prompt, for token counts that the vendor can't provide. */
export function guessInputTokens(request: ChatRequest): number {
  const weight = weighRequest(request);
  const media = weight.images + weight.audios + weight.files;
  return guessTokens(weight.textBytes) + TOKENS_PER_MESSAGE * weight.messages + COMMON_MEDIA_TOKENS * media;
}
