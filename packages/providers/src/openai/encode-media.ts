import type { JsonObject } from '@llm0/core/chat/json';
import type { PartOf } from '../translation/encode-turns';
import { type InlineMedia, parseDataUrl } from '../translation/media-source';

export type MediaByUrl = ReadonlyMap<string, InlineMedia>;

const TEXT_TYPE = /^text\//;
const IMAGE_TYPE = /^image\//;

/** A file as the vendor takes it: text as text, images as images, the rest as data. */
export function encodeFile({ dataUrl, filename }: PartOf<'file'>, media: MediaByUrl): JsonObject {
  const inline = parseDataUrl(dataUrl) ?? media.get(dataUrl);
  if (inline !== undefined && TEXT_TYPE.test(inline.mimeType)) return textPart(inline, filename);
  const url = inline === undefined ? dataUrl : `data:${inline.mimeType};base64,${inline.dataBase64}`;
  if (inline !== undefined && IMAGE_TYPE.test(inline.mimeType)) return { type: 'image_url', image_url: { url } };
  // Data without a name is refused.
  return { type: 'file', file: { file_data: url, filename: filename ?? 'document' } };
}

/** The vendor reads no text files; their words go among the others, under their title. */
function textPart({ dataBase64 }: InlineMedia, title: string | undefined): JsonObject {
  const text = Buffer.from(dataBase64, 'base64').toString('utf8');
  return { type: 'text', text: title === undefined ? text : `${title}\n\n${text}` };
}
