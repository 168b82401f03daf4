import { type JsonObject, present } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { type ImageAnswer, type ImageRequest, type MadeImage, readSize } from '@llm0/core/tasks/image';
import type { SentFile } from '@llm0/core/tasks/task-request';
import type { EncodeContext, UpstreamRequest } from '../../provider-request';
import type { TaskPart } from '../../tasks';
import { jsonBody } from '../../translation/json-body';
import { asObject, asObjects, asString } from '../../translation/read-json';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { upstreamFailure } from '../../transport/upstream-failure';
import { readAny } from '../decode-usage';
import { contentEndpoint, predictEndpoint } from '../endpoint';
import { PROVIDER } from '../wire';

const IMAGEN = /^(?:models\/)?imagen-/;
/** Largest of the sides that a named size has. */
const SIZES = [
  { most: 1536, name: '1K' },
  { most: 3072, name: '2K' },
  { most: 6144, name: '4K' },
] as const;

/** Imagen, and chat models that answer with images. Sources: https://ai.google.dev/gemini-api/docs/imagen, …/image-generation */
export const image: TaskPart<ImageRequest, ImageAnswer> = {
  serves: (model) => /imagen-|-image/.test(model),
  encodeRequest: (request, context) =>
    IMAGEN.test(context.model) ? encodePrediction(request, context) : encodeContent(request, context),
  decodeResponse: (body) => {
    const { images, usage } = body.predictions === undefined ? readContent(body) : readPredictions(body);
    if (images.length === 0) throw upstreamFailure('malformed', PROVIDER, noImage(body));
    return { answer: { images, facts: {} }, usage: { ...usage, units: { images: images.length } } };
  },
};

/** Refuses what neither API knows. */
function droppedOf(request: ImageRequest, context: EncodeContext): DroppedParameters {
  const dropped = new DroppedParameters(context);
  if (request.quality !== undefined && request.quality !== 'auto') dropped.refuse('quality', 'is not understood by');
  if (request.format !== undefined) dropped.refuse('output_format', 'is not understood by');
  if (request.responseFormat === 'url') dropped.refuse('response_format', 'must be "b64_json" for');
  if (request.mask !== undefined) dropped.refuse('mask', 'is not understood by');
  for (const name of Object.keys(request.extra)) dropped.refuse(name, 'is not understood by');
  if (request.user !== undefined) dropped.note('user');
  return dropped;
}

function encodePrediction(request: ImageRequest, context: EncodeContext): UpstreamRequest {
  const dropped = droppedOf(request, context);
  if (request.pictures !== undefined) dropped.refuse('image', 'is not understood by');
  const { aspectRatio, imageSize: sampleImageSize } = shapeOf(request);
  const parameters = present({ sampleCount: request.count, aspectRatio, sampleImageSize }) as JsonObject;
  const body = { instances: [{ prompt: request.prompt }], parameters };
  return { ...predictEndpoint(context), body: jsonBody(body, false), dropped: dropped.names() };
}

function encodeContent(request: ImageRequest, context: EncodeContext): UpstreamRequest {
  const dropped = droppedOf(request, context);
  const { pictures = [], prompt, count } = request;
  if (count > 1) dropped.refuse('n', 'must be 1 for');
  const parts: JsonObject[] = [{ text: prompt }, ...pictures.map(inlinePart)];
  const shape = present(shapeOf(request)) as JsonObject;
  const generationConfig: JsonObject = {
    responseModalities: ['IMAGE'],
    ...(Object.keys(shape).length === 0 ? {} : { imageConfig: shape }),
  };
  const body = { contents: [{ role: 'user', parts }], generationConfig };
  const endpoint = contentEndpoint({ ...context, stream: false });
  return { ...endpoint, body: jsonBody(body, pictures.length > 0), dropped: dropped.names() };
}

const inlinePart = ({ type, pieces }: SentFile): JsonObject => ({
  inlineData: { mimeType: type, data: Buffer.concat(pieces).toString('base64') },
});

/** A size as ratio and named size; both undefined for `auto`. */
function shapeOf({ size }: ImageRequest) {
  const sides = readSize(size);
  if (sides === undefined) return {};
  const { width, height } = sides;
  const divisor = greatestDivisor(width, height);
  const most = Math.max(width, height);
  return {
    aspectRatio: `${width / divisor}:${height / divisor}`,
    imageSize: (SIZES.find((one) => most <= one.most) ?? SIZES[2]).name,
  };
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

interface Read {
  readonly images: MadeImage[];
  readonly usage: Usage;
}

function readPredictions({ predictions }: JsonObject): Read {
  const images = asObjects(predictions).flatMap(({ bytesBase64Encoded: base64, prompt }) =>
    typeof base64 === 'string' ? [made(base64, asString(prompt))] : [],
  );
  return { images, usage: ZERO_USAGE };
}

function readContent(body: JsonObject): Read {
  const parts = asObjects(body.candidates).flatMap(({ content }) => asObjects(asObject(content)?.parts));
  const shown = parts.filter(({ thought }) => thought !== true);
  const text = shown.map((part) => asString(part.text) ?? '').join('');
  const images = shown.flatMap((part) => {
    const base64 = asString(asObject(part.inlineData)?.data);
    return base64 === undefined ? [] : [made(base64, text === '' ? undefined : text)];
  });
  return { images, usage: readAny(body.usageMetadata, true) ?? ZERO_USAGE };
}

const made = (base64: string, prompt: string | undefined): MadeImage =>
  present({ b64_json: base64, revised_prompt: prompt }) as MadeImage;

/** A refusal has a reason of its own. */
function noImage(body: JsonObject): string {
  const reason =
    asString(asObject(body.promptFeedback)?.blockReason) ?? asString(asObjects(body.candidates)[0]?.finishReason);
  return reason === undefined ? 'answered without an image.' : `made no image (${reason.slice(0, 60)}).`;
}
