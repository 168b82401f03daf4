import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { stopAtFile } from '@llm0/core/chat/own-files';
import type { ContentPart } from '@llm0/core/chat/request';
import { type ContentFormat, decodeParts, type PartDecoder } from '../decode-lists';
import { invalid, isObject, optionalText, present, requiredText, textOf } from '../read-fields';

/** The content of an item (text or parts) → parts. Unknown kinds or fields stay raw. */
export function decodeContent(value: JsonValue | undefined, path: string): ContentPart[] {
  return decodeParts(value, path, CONTENT);
}

const withFields = (...names: string[]): ReadonlySet<string> => new Set(['type', ...names]);

/** Annotations of earlier answers refer to text beside them. */
const OUTPUT_TEXT = { fields: withFields('text', 'annotations', 'logprobs'), decode: decodeText };

const PART_DECODERS = new Map<string, PartDecoder>([
  ['input_text', { fields: withFields('text'), decode: decodeText }],
  ['output_text', OUTPUT_TEXT],
  ['text', { fields: withFields('text'), decode: decodeText }],
  ['input_image', { fields: withFields('image_url', 'file_id', 'detail'), decode: decodeImage }],
  ['input_file', { fields: withFields('file_data', 'file_url', 'file_id', 'filename'), decode: decodeFile }],
  ['input_audio', { fields: withFields('input_audio'), decode: decodeAudio }],
  ['refusal', { fields: withFields('refusal'), decode: decodeRefusal }],
]);
const CONTENT: ContentFormat = { format: 'openai-responses', decoders: PART_DECODERS };

function decodeText(item: JsonObject, path: string): ContentPart {
  return { type: 'text', text: requiredText(item, 'text', path) };
}

function decodeRefusal(item: JsonObject, path: string): ContentPart {
  return { type: 'refusal', text: requiredText(item, 'refusal', path) };
}

function decodeImage(item: JsonObject, path: string): ContentPart {
  stopAtFile(item.file_id, `${path}.file_id`);
  const url = item.image_url;
  if (typeof url !== 'string' || url === '') {
    throw invalid(`${path}.image_url`, `"${path}.image_url" must be a URL or a data URL.`);
  }
  return present({ type: 'image', url, detail: textOf(item.detail) });
}

function decodeFile(item: JsonObject, path: string): ContentPart {
  const text = (name: string) => optionalText(item, name, path);
  stopAtFile(item.file_id, `${path}.file_id`);
  const [data, url, filename] = [text('file_data'), text('file_url'), text('filename')];
  const dataUrl = data ?? url;
  if (dataUrl === undefined) {
    throw invalid(path, `"${path}" must hold "file_data", "file_url" or "file_id".`);
  }
  return present({ type: 'file', dataUrl, filename });
}

function decodeAudio(item: JsonObject, path: string): ContentPart {
  const audio = item.input_audio;
  if (!isObject(audio) || typeof audio.data !== 'string' || typeof audio.format !== 'string') {
    throw invalid(`${path}.input_audio`, `"${path}.input_audio" must hold "data" (base64) and "format".`);
  }
  return { type: 'audio', dataBase64: audio.data, format: audio.format };
}
