import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { completionTokens, promptTokens, type Usage } from '@llm0/core/chat/usage';
import type { ImageAnswer, ImageRequest } from '@llm0/core/tasks/image';
import { type SentFile, sizeOf } from '@llm0/core/tasks/task-request';
import type { TaskBody, TaskDialect, TaskSummary } from '../dialect';
import { encodeError } from '../openai-chat/encode-error';
import { invalid, readBoolean, readNumber, readString } from '../read-fields';
import { readReferences } from './picture-references';
import { encodeFacts, readCommon } from './task-fields';

const KNOWN: ReadonlySet<string> = new Set([
  ...[
    'prompt',
    'n',
    'size',
    'quality',
    'output_format',
    'response_format',
    'partial_images',
    'stream',
    'image',
    'mask',
  ],
]);
const MAX_IMAGES = 10;
const MAX_PARTIAL = 3;
const MAX_PICTURES = 16;
const SIZE = /^(?:auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/;

/** `POST /v1/images/generations`. Source: https://platform.openai.com/docs/api-reference/images/create */
export const openaiImages: TaskDialect<ImageRequest, ImageAnswer> = {
  ...{ name: 'openai-images', body: 'json', encodeError },
  decodeRequest: ({ fields }) => decodeFields(fields),
  encodeResponse,
  encodeEvents: (answer, summary) => encodeEvents(answer, summary, 'image_generation'),
};

/** `POST /v1/images/edits`. Source: https://platform.openai.com/docs/api-reference/images/createEdit */
export const openaiImageEdits: TaskDialect<ImageRequest, ImageAnswer> = {
  ...{ name: 'openai-image-edits', body: 'form', encodeError, referencesOf: readReferences },
  decodeRequest: (body) => ({ ...decodeFields(fromForm(body.fields)), ...readPictures(body) }),
  encodeResponse,
  encodeEvents: (answer, summary) => encodeEvents(answer, summary, 'image_edit'),
};

function decodeFields(fields: JsonObject): ImageRequest {
  const prompt = readString(fields, 'prompt');
  if (prompt === undefined || prompt === '') throw invalid('prompt', '"prompt" must say what to show.');
  const size = readString(fields, 'size');
  if (size !== undefined && !SIZE.test(size)) throw invalid('size', '"size" must be "<width>x<height>" or "auto".');
  return {
    ...readCommon(fields, KNOWN),
    prompt,
    stream: readBoolean(fields, 'stream') ?? false,
    count: readNumber(fields, 'n', { min: 1, max: MAX_IMAGES, integer: true }) ?? 1,
    size,
    quality: readString(fields, 'quality'),
    format: readString(fields, 'output_format'),
    responseFormat: readString(fields, 'response_format'),
    partialImages: readNumber(fields, 'partial_images', { min: 0, max: MAX_PARTIAL, integer: true }),
  };
}

const NUMBERS = ['n', 'partial_images', 'output_compression'] as const;

/** A form has texts only. */
function fromForm(fields: JsonObject): JsonObject {
  const values = { ...fields };
  for (const name of NUMBERS) {
    const value = fields[name];
    if (typeof value === 'string' && /^\d{1,9}$/.test(value)) values[name] = Number(value);
  }
  if (fields.stream === 'true' || fields.stream === 'false') values.stream = fields.stream === 'true';
  return values;
}

function readPictures({ files }: TaskBody): Required<Pick<ImageRequest, 'pictures'>> & Pick<ImageRequest, 'mask'> {
  const named = (field: string) => files.flatMap(([name, file]) => (name === field ? [file] : []));
  const pictures = named('image');
  const [mask] = named('mask');
  if (pictures.length === 0) throw invalid('image', '"image" must be a picture to edit.');
  if (pictures.length > MAX_PICTURES) throw invalid('image', `At most ${MAX_PICTURES} pictures can be edited at once.`);
  for (const picture of pictures) checkPicture('image', picture);
  if (mask !== undefined) checkPicture('mask', mask);
  return mask === undefined ? { pictures } : { pictures, mask };
}

/** First bytes of the formats that vendors take. */
const SIGNATURES: readonly (readonly [offset: number, bytes: string])[] = [
  [0, '\x89PNG\r\n\x1a\n'],
  [0, '\xff\xd8\xff'],
  [0, 'GIF8'],
  [8, 'WEBP'],
];
const SIGNATURE_BYTES = 12;

/** A vendor would refuse it too, after all of it was sent. */
function checkPicture(field: string, file: SentFile): void {
  const first = file.pieces.slice(0, SIGNATURE_BYTES).map((piece) => piece.subarray(0, SIGNATURE_BYTES));
  const start = Buffer.concat(first).toString('latin1', 0, SIGNATURE_BYTES);
  const isKnown = SIGNATURES.some(([offset, bytes]) => start.startsWith(bytes, offset));
  if (!isKnown) {
    const what = sizeOf(file) === 0 ? 'is empty' : 'is none';
    throw invalid(field, `"${field}" must be a PNG, JPEG, WebP or GIF picture, but ${what}.`);
  }
}

function encodeResponse({ images, facts }: ImageAnswer, summary: TaskSummary): JsonObject {
  return {
    created: summary.createdSeconds,
    ...facts,
    data: images,
    ...usageOf(summary.usage),
    model: summary.model,
    ...encodeFacts(summary),
  };
}

/** One event for each image; the last one tells the usage. */
function encodeEvents({ images, facts }: ImageAnswer, summary: TaskSummary, name: string): readonly JsonObject[] {
  return images.map((image, index) => ({
    type: `${name}.completed`,
    ...image,
    created_at: summary.createdSeconds,
    ...facts,
    ...(index === images.length - 1 ? usageOf(summary.usage) : {}),
  }));
}

/** Absent where images are billed by piece. */
function usageOf(usage: Usage): { usage?: JsonValue } {
  const { inputImageTokens: images = 0, cacheReadImageTokens: cachedImages = 0, outputImageTokens: made = 0 } = usage;
  const [input, output] = [promptTokens(usage), completionTokens(usage)];
  if (input + output === 0) return {};
  const cached = usage.cacheReadTokens + cachedImages;
  return {
    usage: {
      ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
      input_tokens_details: {
        ...{ image_tokens: images + cachedImages, text_tokens: input - images - cachedImages },
        ...(cached === 0 ? {} : { cached_tokens: cached }),
      },
      output_tokens_details: { image_tokens: made, text_tokens: output - made },
    },
  };
}
