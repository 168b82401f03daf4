import { type JsonObject, present } from '@llm0/core/chat/json';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { type ImageAnswer, type ImageRequest, type MadeImage, readSize } from '@llm0/core/tasks/image';
import type { EncodeContext, EndpointRequest } from '../../provider-request';
import type { TaskPart } from '../../tasks';
import { dataUrl, type FormField, formBody } from '../../translation/form-body';
import { jsonBody } from '../../translation/json-body';
import { asObjects, asString } from '../../translation/read-json';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { upstreamFailure } from '../../transport/upstream-failure';
import { endpointOf } from '../endpoint';
import { createImageStreamReader } from './image-stream';
import { readImageUsage } from './image-usage';

/** Differences between servers that make images in this format. */
export interface ImageQuirks {
  /** How a size is named; null where sizes aren't, so that one is refused. */
  readonly size: 'size' | 'width-height' | null;
  readonly quality: boolean;
  /** Name of `b64_json` there, to be sent where the default is a link; absent: base64 is the only answer. */
  readonly base64?: string;
  /** How pictures to edit are sent; null where none are taken. */
  readonly pictures: 'form' | 'image-object' | 'image_url' | null;
  /** Streams, with unfinished images. */
  readonly streams: boolean;
}

/** Source: https://platform.openai.com/docs/api-reference/images/create */
export const OPENAI_IMAGES: ImageQuirks = { size: 'size', quality: true, pictures: 'form', streams: true };

/** Images of a server that speaks the format. */
export function createImages(provider: string, quirks: ImageQuirks): TaskPart<ImageRequest, ImageAnswer> {
  const part: TaskPart<ImageRequest, ImageAnswer> = {
    encodeRequest: (request, context) => encodeImages(request, context, quirks),
    decodeResponse: (body) => decodeImages(provider, body),
  };
  if (!quirks.streams) return part;
  return { ...part, createStreamReader: ({ count }) => createImageStreamReader(provider, count) };
}

function encodeImages(request: ImageRequest, context: EncodeContext, quirks: ImageQuirks): EndpointRequest {
  const dropped = new DroppedParameters(context);
  const { pictures } = request;
  const fields = fieldsOf(request, { context, quirks, dropped });
  if (pictures === undefined) {
    return {
      ...endpointOf(context.connection, 'images/generations'),
      body: jsonBody(fields, false),
      dropped: dropped.names(),
    };
  }
  const endpoint = endpointOf(
    context.connection,
    quirks.pictures === 'image_url' ? 'images/generations' : 'images/edits',
  );
  if (quirks.pictures === 'form') {
    const { contentType, body } = formBody(formFields(fields, request));
    return {
      ...endpoint,
      headers: { ...endpoint.headers, 'content-type': contentType },
      body,
      dropped: dropped.names(),
    };
  }
  const [first, second] = pictures;
  if (quirks.pictures === null) dropped.refuse('image', 'is not understood by');
  if (second !== undefined) dropped.refuse('image', 'may be only one picture for');
  if (request.mask !== undefined) dropped.refuse('mask', 'is not understood by');
  const picture = first === undefined ? {} : pictureField(quirks, dataUrl(first));
  return { ...endpoint, body: jsonBody({ ...fields, ...picture }, true), dropped: dropped.names() };
}

const pictureField = ({ pictures }: ImageQuirks, url: string): JsonObject =>
  pictures === 'image_url' ? { image_url: url } : { image: { url } };

interface Encoding {
  readonly context: EncodeContext;
  readonly quirks: ImageQuirks;
  readonly dropped: DroppedParameters;
}

function fieldsOf(request: ImageRequest, { context, quirks, dropped }: Encoding): JsonObject {
  const { prompt, count, size, quality, format, responseFormat, partialImages, stream, user, extra } = request;
  const { streams, base64 } = quirks;
  const isAuto = size === undefined || size === 'auto';
  if (!isAuto && quirks.size === null) dropped.refuse('size', 'is not understood by');
  if (quality !== undefined && !quirks.quality) dropped.refuse('quality', 'is not understood by');
  const measured = quirks.size === 'width-height' ? readSize(size) : undefined;
  return present({
    ...extra,
    ...{ model: context.model, prompt, n: count === 1 ? undefined : count },
    size: quirks.size === 'size' ? size : undefined,
    ...measured,
    quality: quirks.quality ? quality : undefined,
    output_format: format,
    response_format: base64 === undefined || responseFormat === 'url' ? responseFormat : base64,
    ...(streams && stream ? { stream, partial_images: partialImages } : {}),
    user,
  }) as JsonObject;
}

function formFields(fields: JsonObject, { pictures = [], mask }: ImageRequest): readonly FormField[] {
  const texts = Object.entries(fields).map(([name, value]): FormField => {
    return [name, typeof value === 'string' ? value : JSON.stringify(value)];
  });
  const field = pictures.length === 1 ? 'image' : 'image[]';
  const files = pictures.map((picture): FormField => [field, picture]);
  return [...texts, ...files, ...(mask === undefined ? [] : [['mask', mask] as const])];
}

const FACTS = ['created', 'background', 'output_format', 'quality', 'size', 'svg_usage'] as const;

function decodeImages(
  provider: string,
  body: JsonObject,
): { answer: ImageAnswer; usage: ReturnType<typeof readImageUsage> } {
  const images = asObjects(body.data).map(imageOf);
  if (images.length === 0 || images.some((image) => image === undefined)) {
    throw upstreamFailure('malformed', provider, 'answered without an image.');
  }
  const facts = present(Object.fromEntries(FACTS.map((name) => [name, body[name]]))) as JsonObject;
  const variant = readSize(asString(body.size)) && asString(body.quality) && `${body.quality}_${body.size}`;
  const told = readImageUsage(body.usage, body.svg_usage) ?? ZERO_USAGE;
  const usage = { ...told, units: { images: images.length }, ...(variant ? { imageVariant: variant } : {}) };
  return { answer: { images: images as MadeImage[], facts }, usage };
}

/** undefined without an image. */
function imageOf({ b64_json: base64, url, revised_prompt: prompt }: JsonObject): MadeImage | undefined {
  if (typeof base64 !== 'string' && typeof url !== 'string') return undefined;
  return present({
    b64_json: asString(base64),
    url: typeof base64 === 'string' ? undefined : asString(url),
    revised_prompt: asString(prompt),
  }) as MadeImage;
}
