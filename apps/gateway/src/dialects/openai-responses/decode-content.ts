import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ContentPart } from '@llm0/core/chat/request';
import { invalid, isObject, kindOf } from '../read-fields';

/** The content of an item (text or parts) → parts. Parts of unknown kinds, or with unknown fields, are kept raw. */
export function decodeContent(value: JsonValue | undefined, path: string): ContentPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (!Array.isArray(value)) {
    throw invalid(path, `"${path}" must be a string or an array of parts, but is ${kindOf(value)}.`);
  }
  return value.map((item, i) => decodePart(item, `${path}[${i}]`));
}

function decodePart(item: JsonValue, path: string): ContentPart {
  if (!isObject(item)) throw invalid(path, `"${path}" must be an object with a "type", but is ${kindOf(item)}.`);
  if (typeof item.type !== 'string') throw invalid(`${path}.type`, `"${path}.type" must say what the part is.`);
  const decoder = PART_DECODERS.get(item.type);
  if (decoder === undefined) return raw(item);
  for (const name in item) if (!decoder.fields.has(name) && item[name] != null) return raw(item);
  return decoder.decode(item, path);
}

function raw(value: JsonObject): ContentPart {
  return { type: 'raw', format: 'openai-responses', value };
}

interface PartDecoder {
  readonly fields: ReadonlySet<string>;
  readonly decode: (item: JsonObject, path: string) => ContentPart;
}

const withFields = (...names: string[]): ReadonlySet<string> => new Set(['type', ...names]);

/** Marks on earlier answers are about their text, which stands beside them. */
const OUTPUT_TEXT = { fields: withFields('text', 'annotations', 'logprobs'), decode: decodeText };

const PART_DECODERS: ReadonlyMap<string, PartDecoder> = new Map<string, PartDecoder>([
  ['input_text', { fields: withFields('text'), decode: decodeText }],
  ['output_text', OUTPUT_TEXT],
  ['text', { fields: withFields('text'), decode: decodeText }],
  ['input_image', { fields: withFields('image_url', 'detail'), decode: decodeImage }],
  ['input_file', { fields: withFields('file_data', 'file_url', 'file_id', 'filename'), decode: decodeFile }],
  ['input_audio', { fields: withFields('input_audio'), decode: decodeAudio }],
  ['refusal', { fields: withFields('refusal'), decode: decodeRefusal }],
]);

function decodeText(item: JsonObject, path: string): ContentPart {
  return { type: 'text', text: requiredText(item, 'text', path) };
}

function decodeRefusal(item: JsonObject, path: string): ContentPart {
  return { type: 'refusal', text: requiredText(item, 'refusal', path) };
}

function requiredText(item: JsonObject, name: string, path: string): string {
  const value = item[name];
  if (typeof value === 'string') return value;
  throw invalid(`${path}.${name}`, `"${path}.${name}" must be a string, but is ${kindOf(value)}.`);
}

function decodeImage(item: JsonObject, path: string): ContentPart {
  const url = item.image_url;
  if (typeof url !== 'string' || url === '') {
    throw invalid(`${path}.image_url`, `"${path}.image_url" must be a URL or a data URL.`);
  }
  return { type: 'image', url, ...(typeof item.detail === 'string' ? { detail: item.detail } : {}) };
}

function decodeFile(item: JsonObject, path: string): ContentPart {
  const text = (name: string): string | undefined => (item[name] == null ? undefined : requiredText(item, name, path));
  const [data, url, fileId, filename] = [text('file_data'), text('file_url'), text('file_id'), text('filename')];
  const dataUrl = data ?? url;
  if (dataUrl === undefined && fileId === undefined) {
    throw invalid(path, `"${path}" must hold "file_data", "file_url" or "file_id".`);
  }
  return {
    type: 'file',
    ...(dataUrl === undefined ? {} : { dataUrl }),
    ...(fileId === undefined ? {} : { fileId }),
    ...(filename === undefined ? {} : { filename }),
  };
}

function decodeAudio(item: JsonObject, path: string): ContentPart {
  const audio = item.input_audio;
  if (!isObject(audio) || typeof audio.data !== 'string' || typeof audio.format !== 'string') {
    throw invalid(`${path}.input_audio`, `"${path}.input_audio" must hold "data" (base64) and "format".`);
  }
  return { type: 'audio', dataBase64: audio.data, format: audio.format };
}
