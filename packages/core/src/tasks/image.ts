import { isObject, type JsonObject, type JsonValue } from '../chat/json';
import { type Usage, ZERO_USAGE } from '../chat/usage';
import type { PricedModel, TokenPrices } from '../pricing/price-book';
import { boundTokens, refuseUnbounded, type SentFile, type TaskRequest } from './task-request';

export interface ImageRequest extends TaskRequest {
  readonly prompt: string;
  /** Images to make. */
  readonly count: number;
  /** `<width>x<height>`, or `auto`. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly format?: string | undefined;
  /** `b64_json` or `url`; else the vendor's default that is not a link. */
  readonly responseFormat?: string | undefined;
  /** Unfinished images of a stream. */
  readonly partialImages?: number | undefined;
  /** Set for edits. */
  readonly pictures?: readonly SentFile[];
  readonly mask?: SentFile | undefined;
}

/** An image as base64 or as a link. */
export interface MadeImage extends JsonObject {
  [name: string]: JsonValue;
}

export interface ImageAnswer extends JsonObject {
  /** `b64_json` or `url`, and `revised_prompt`. */
  images: MadeImage[];
  /** Further fields of the answer: `created`, `size`, `quality`, `background`, `output_format`. */
  facts: JsonObject;
}

/** Output tokens of a square megapixel at each quality. Source: https://platform.openai.com/docs/guides/image-generation */
const BEST_TOKENS = 16_640;
const TOKENS_PER_SQUARE: ReadonlyMap<string, number> = new Map([
  ...[['low', 272] as const, ['medium', 1056] as const, ['high', 4160] as const],
  // Without one, the usual one of a high price.
  ...[['auto', 4160] as const, ['max', BEST_TOKENS] as const],
]);
const SQUARE = 1024 * 1024;
/** `auto` may choose the largest usual size. */
const USUAL_PIXELS = 1536 * 1024;
/** Sizes that the vendor lists have sides in steps of 16, and up to three times as long as each other. */
const LARGEST_PIXELS = 3840 * 2160;
const STEP = 16;
const MOST_RATIO = 3;
const TOKENS_PER_PARTIAL = 100;
/** A picture to edit, in full fidelity. */
const TOKENS_PER_PICTURE = 6500;

/** Width and height; undefined for `auto` or none. */
export function readSize(size: string | undefined): { readonly width: number; readonly height: number } | undefined {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? '') ?? [];
  return width === undefined || height === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/**
 * `<quality>_<width>x<height>` of the price book as asked for; else the dearest, where there is no common price or strict
 * caps have to cover what the vendor chooses. Throws under strict caps for what alone has no price.
 */
function variantOf({ quality, size }: ImageRequest, prices: TokenPrices, strict: boolean): string | undefined {
  const asked = quality === undefined || readSize(size) === undefined ? undefined : `${quality}_${size}`;
  if (asked !== undefined && prices[VARIANT + asked] !== undefined) return asked;
  const { image: common } = prices;
  if (common !== undefined && !strict) return asked;
  const priced = Object.entries(prices).filter(([name]) => name.startsWith(VARIANT));
  const [dearest] = priced.sort(([, a = 0], [, b = 0]) => b - a);
  if (dearest === undefined || (common ?? 0) >= (dearest[1] ?? 0)) return asked;
  const names = priced.map(([name]) => name.slice(VARIANT.length));
  if (strict && common === undefined) checkListed({ quality, size }, names);
  return dearest[0].slice(VARIANT.length);
}

const VARIANT = 'image_';

function checkListed({ quality, size }: Pick<ImageRequest, 'quality' | 'size'>, names: readonly string[]): void {
  const isQualityListed = quality === undefined || names.some((name) => name.startsWith(`${quality}_`));
  if (quality !== 'auto' && !isQualityListed) throw refuseUnbounded('quality', `an image of the quality "${quality}"`);
  if (readSize(size) === undefined) return;
  const isSizeListed = names.some((name) => name.endsWith(`_${size}`));
  if (isSizeListed && (quality === undefined || quality === 'auto')) return;
  throw refuseUnbounded('size', `an image of the size "${size}"`);
}

/** The images and tokens that a vendor bills at most; throws under strict caps where that has no bound. */
export function boundImages(request: ImageRequest, priced: PricedModel, strict: boolean): Usage {
  const { prompt, count, pictures = [], mask, partialImages = 0 } = request;
  const files = pictures.length + (mask === undefined ? 0 : 1);
  const isByToken = priced.prices.output_image !== undefined;
  if (strict && isByToken) checkBounded(priced, files);
  if (strict && request.format === 'svg' && drawingModel(request) === undefined) {
    throw refuseUnbounded('svg.model', 'an SVG by a model that the vendor chooses');
  }
  const partials = TOKENS_PER_PARTIAL * partialImages;
  const each = strict ? Math.max(priced.maxOutputTokens ?? 0, tokensOfImage(request)) : tokensOfImage(request);
  const variant = variantOf(request, priced.prices, strict);
  return {
    ...ZERO_USAGE,
    inputTokens: boundTokens([prompt], strict),
    ...(files === 0 ? {} : { inputImageTokens: TOKENS_PER_PICTURE * files }),
    ...(isByToken ? { outputImageTokens: count * (each + partials) } : {}),
    units: { images: count },
    ...(variant === undefined ? {} : { imageVariant: variant }),
  };
}

/** Tokens of an SVG, for the hold alone. */
const USUAL_DRAWING = 4096;

/** The text model that writes the SVGs of a request; undefined where they have none. */
export function drawingModel({ extra: { svg } }: ImageRequest): string | undefined {
  return isObject(svg) && typeof svg.model === 'string' ? svg.model : undefined;
}

/** What that model bills at most; throws under strict caps where that has no bound. */
export function boundDrawing({ prompt, count }: ImageRequest, priced: PricedModel, strict: boolean): Usage {
  const { provider, model, maxOutputTokens } = priced;
  if (strict && maxOutputTokens === undefined) {
    throw refuseUnbounded(
      'svg.model',
      `an SVG by ${provider}/${model}, without "max_output_tokens" in the price book,`,
    );
  }
  const each = strict ? (maxOutputTokens ?? 0) : Math.min(USUAL_DRAWING, maxOutputTokens ?? USUAL_DRAWING);
  return { ...ZERO_USAGE, inputTokens: count * boundTokens([prompt], strict), outputTokens: count * each };
}

function checkBounded({ provider, model, maxOutputTokens }: PricedModel, files: number): void {
  if (files > 0) throw refuseUnbounded('image', 'a picture to edit');
  if (maxOutputTokens !== undefined) return;
  throw refuseUnbounded(
    'model',
    `an image of ${provider}/${model}, which has no "max_output_tokens" in the price book,`,
  );
}

/** Of each frame, if it moves. */
function tokensOfImage({ size, quality = 'auto', extra }: Pick<ImageRequest, 'size' | 'quality' | 'extra'>): number {
  const perSquare = TOKENS_PER_SQUARE.get(quality) ?? BEST_TOKENS;
  const frames = Math.max(1, Number(extra.frame_count) || 1);
  return Math.ceil((perSquare * pixelsOf(size) * frames) / SQUARE);
}

/** Pixels that are billed at most; of an odd size, those of the largest one. */
function pixelsOf(size: string | undefined): number {
  const sides = readSize(size);
  if (sides === undefined) return USUAL_PIXELS;
  const { width, height } = sides;
  const isListed =
    width % STEP === 0 && height % STEP === 0 && Math.max(width, height) <= MOST_RATIO * Math.min(width, height);
  return Math.max(width * height, isListed ? SQUARE : LARGEST_PIXELS);
}

/** Of an image that nobody described, as a chat model may draw it. */
export const USUAL_IMAGE_TOKENS = tokensOfImage({ extra: {} });
