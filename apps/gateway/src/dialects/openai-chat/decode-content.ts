import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ContentPart } from '@llm0/core/chat/request';
import { invalid, isObject, kindOf } from '../read-fields';

/** A message's `content` (text or parts) → parts. Parts of unknown kinds, or with unknown fields, are kept raw. */
export function decodeContent(value: JsonValue, path: string): ContentPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (!Array.isArray(value)) {
    throw invalid(path, `"${path}" must be a string or an array of parts, but is ${kindOf(value)}.`);
  }
  const parts: ContentPart[] = [];
  for (const [i, item] of value.entries()) parts.push(decodePart(item, `${path}[${i}]`));
  return parts;
}

function decodePart(item: JsonValue, path: string): ContentPart {
  if (typeof item === 'string') return { type: 'text', text: item };
  if (!isObject(item)) throw invalid(path, `"${path}" must be an object with a "type", but is ${kindOf(item)}.`);
  if (typeof item.type !== 'string') throw invalid(`${path}.type`, `"${path}.type" must say what the part is.`);
  const decoder = PART_DECODERS.get(item.type);
  if (decoder === undefined) return raw(item);
  for (const name in item) if (!decoder.fields.has(name) && item[name] != null) return raw(item);
  return decoder.decode(item, path);
}

function raw(value: JsonObject): ContentPart {
  return { type: 'raw', format: 'openai-chat', value };
}

interface PartDecoder {
  readonly fields: ReadonlySet<string>;
  readonly decode: (item: JsonObject, path: string) => ContentPart;
}

const withFields = (...names: string[]): ReadonlySet<string> => new Set(['type', 'cache_control', ...names]);

const PART_DECODERS: ReadonlyMap<string, PartDecoder> = new Map<string, PartDecoder>([
  ['text', { fields: withFields('text'), decode: decodeText }],
  ['image_url', { fields: withFields('image_url'), decode: decodeImage }],
  ['input_audio', { fields: withFields('input_audio'), decode: decodeAudio }],
  ['file', { fields: withFields('file'), decode: decodeFile }],
  ['refusal', { fields: new Set(['type', 'refusal']), decode: decodeRefusal }],
]);

function decodeText(item: JsonObject, path: string): ContentPart {
  if (typeof item.text !== 'string') throw invalid(`${path}.text`, `"${path}.text" must be a string.`);
  return { type: 'text', text: item.text, ...cacheControl(item) };
}

function decodeImage(item: JsonObject, path: string): ContentPart {
  const image = item.image_url;
  const url = typeof image === 'string' ? image : isObject(image) ? image.url : undefined;
  if (typeof url !== 'string' || url === '') {
    throw invalid(`${path}.image_url`, `"${path}.image_url.url" must be a URL or a data URL.`);
  }
  if (isObject(image) && hasOther(image, ['url', 'detail'])) return raw(item);
  const detail = isObject(image) && typeof image.detail === 'string' ? { detail: image.detail } : {};
  return { type: 'image', url, ...detail, ...cacheControl(item) };
}

function decodeAudio(item: JsonObject, path: string): ContentPart {
  const audio = item.input_audio;
  if (!isObject(audio) || typeof audio.data !== 'string' || typeof audio.format !== 'string') {
    throw invalid(`${path}.input_audio`, `"${path}.input_audio" must hold "data" (base64) and "format".`);
  }
  if (hasOther(audio, ['data', 'format']) || item.cache_control != null) return raw(item);
  return { type: 'audio', dataBase64: audio.data, format: audio.format };
}

function decodeFile(item: JsonObject, path: string): ContentPart {
  const { file } = item;
  if (!isObject(file)) throw invalid(`${path}.file`, `"${path}.file" must be an object, but is ${kindOf(file)}.`);
  if (hasOther(file, ['file_data', 'file_id', 'filename'])) return raw(item);
  const text = (name: string): string | undefined => {
    const value = file[name] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw invalid(`${path}.file.${name}`, `"${path}.file.${name}" must be a string, but is ${kindOf(value)}.`);
  };
  const [dataUrl, fileId, filename] = [text('file_data'), text('file_id'), text('filename')];
  return {
    type: 'file',
    ...(dataUrl === undefined ? {} : { dataUrl }),
    ...(fileId === undefined ? {} : { fileId }),
    ...(filename === undefined ? {} : { filename }),
    ...cacheControl(item),
  };
}

function decodeRefusal(item: JsonObject, path: string): ContentPart {
  if (typeof item.refusal !== 'string') throw invalid(`${path}.refusal`, `"${path}.refusal" must be a string.`);
  return { type: 'refusal', text: item.refusal };
}

function hasOther(value: JsonObject, known: readonly string[]): boolean {
  for (const name in value) if (!known.includes(name) && value[name] != null) return true;
  return false;
}

function cacheControl(item: JsonObject): { cacheControl?: JsonValue } {
  return item.cache_control == null ? {} : { cacheControl: item.cache_control };
}
