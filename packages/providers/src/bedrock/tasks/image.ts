import { type JsonObject, present } from '@llm0/core/chat/json';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { type ImageAnswer, type ImageRequest, readSize } from '@llm0/core/tasks/image';
import type { TaskPart } from '../../tasks';
import { asString } from '../../translation/read-json';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { upstreamFailure } from '../../transport/upstream-failure';
import { invokeRequest } from '../endpoint';
import { PROVIDER } from '../wire';

/** Nova Canvas and Titan. Source: https://docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html */
export const image: TaskPart<ImageRequest, ImageAnswer> = {
  serves: (model) => /(?:^|[./])amazon\.(?:nova-canvas|titan-image-generator)-/.test(model),
  encodeRequest(request, context) {
    const dropped = new DroppedParameters(context);
    const { prompt, count, size, quality, pictures, format, responseFormat, user, extra } = request;
    const isPremium = quality === 'premium' || quality === 'high';
    if (quality !== undefined && !isPremium && !USUAL.has(quality)) dropped.refuse('quality', 'has no such value for');
    if (pictures !== undefined) dropped.refuse('image', 'is not understood by');
    if (format !== undefined) dropped.refuse('output_format', 'is not understood by');
    if (responseFormat === 'url') dropped.refuse('response_format', 'must be "b64_json" for');
    const { seed, negative_prompt: negativeText, ...others } = extra;
    for (const name of Object.keys(others)) dropped.refuse(name, 'is not understood by');
    if (user !== undefined) dropped.note('user');
    const settings = { numberOfImages: count, quality: isPremium ? 'premium' : 'standard', ...readSize(size), seed };
    const body: JsonObject = {
      taskType: 'TEXT_IMAGE',
      textToImageParams: present({ text: prompt, negativeText }) as JsonObject,
      imageGenerationConfig: present(settings) as JsonObject,
    };
    const { connection, model } = context;
    return { ...invokeRequest({ connection, model, body: JSON.stringify(body) }), dropped: dropped.names() };
  },
  decodeResponse(body) {
    const list = Array.isArray(body.images) ? body.images : [];
    const images = list.flatMap((one) => (typeof one === 'string' ? [{ b64_json: one }] : []));
    if (images.length === 0) {
      throw upstreamFailure(
        'malformed',
        PROVIDER,
        `made no image: ${asString(body.error)?.slice(0, 200) ?? 'no reason'}.`,
      );
    }
    return { answer: { images, facts: {} }, usage: { ...ZERO_USAGE, units: { images: images.length } } };
  },
};

const USUAL: ReadonlySet<string> = new Set(['auto', 'standard', 'medium', 'low']);
