import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { stopAtFile } from '@llm0/core/chat/own-files';
import type { ContentPart } from '@llm0/core/chat/request';
import { type ContentFormat, decodeParts, type PartDecoder } from '../decode-lists';
import {
  cacheControl,
  invalid,
  isObject,
  mustBe,
  optionalText,
  present,
  requiredText,
  saysMore,
  textOf,
} from '../read-fields';

/** A message's `content` (text or parts) → parts. Unknown kinds or fields stay raw. */
export function decodeContent(value: JsonValue, path: string): ContentPart[] {
  return decodeParts(value, path, CONTENT);
}

function raw(value: JsonObject): ContentPart {
  return { type: 'raw', format: 'openai-chat', value };
}

const withFields = (...names: string[]): ReadonlySet<string> => new Set(['type', 'cache_control', ...names]);

const PART_DECODERS = new Map<string, PartDecoder>([
  ['text', { fields: withFields('text'), decode: decodeText }],
  ['image_url', { fields: withFields('image_url'), decode: decodeImage }],
  ['input_audio', { fields: withFields('input_audio'), decode: decodeAudio }],
  ['file', { fields: withFields('file'), decode: decodeFile }],
  ['refusal', { fields: new Set(['type', 'refusal']), decode: decodeRefusal }],
]);
const CONTENT: ContentFormat = { format: 'openai-chat', decoders: PART_DECODERS, takesTexts: true };

const IMAGE_FIELDS = new Set(['url', 'detail']);
const AUDIO_FIELDS = new Set(['data', 'format']);
const FILE_FIELDS = new Set(['file_data', 'file_id', 'filename']);

function decodeText(item: JsonObject, path: string): ContentPart {
  return { type: 'text', text: requiredText(item, 'text', path), ...cacheControl(item) };
}

function decodeImage(item: JsonObject, path: string): ContentPart {
  const image = item.image_url;
  const url = typeof image === 'string' ? image : isObject(image) ? image.url : undefined;
  if (typeof url !== 'string' || url === '') {
    throw invalid(`${path}.image_url`, `"${path}.image_url.url" must be a URL or a data URL.`);
  }
  if (isObject(image) && saysMore(image, IMAGE_FIELDS)) return raw(item);
  const detail = isObject(image) ? textOf(image.detail) : undefined;
  return { ...present({ type: 'image', url, detail }), ...cacheControl(item) };
}

function decodeAudio(item: JsonObject, path: string): ContentPart {
  const audio = item.input_audio;
  if (!isObject(audio) || typeof audio.data !== 'string' || typeof audio.format !== 'string') {
    throw invalid(`${path}.input_audio`, `"${path}.input_audio" must hold "data" (base64) and "format".`);
  }
  if (saysMore(audio, AUDIO_FIELDS) || item.cache_control != null) return raw(item);
  return { type: 'audio', dataBase64: audio.data, format: audio.format };
}

function decodeFile(item: JsonObject, path: string): ContentPart {
  const { file } = item;
  if (!isObject(file)) throw mustBe(`${path}.file`, 'an object', file);
  stopAtFile(file.file_id, `${path}.file.file_id`);
  if (saysMore(file, FILE_FIELDS)) return raw(item);
  const text = (name: string) => optionalText(file, name, `${path}.file`);
  const [dataUrl, filename] = [text('file_data'), text('filename')];
  if (dataUrl === undefined) return raw(item);
  return { ...present({ type: 'file', dataUrl, filename }), ...cacheControl(item) };
}

function decodeRefusal(item: JsonObject, path: string): ContentPart {
  return { type: 'refusal', text: requiredText(item, 'refusal', path) };
}
