import type { JsonObject } from '@llm0/core/chat/json';
import type { PartOf } from '../translation/encode-turns';
import { type InlineMedia, parseDataUrl } from '../translation/media-source';
import type { Refuse } from '../translation/refuse-parameter';

export type MediaByUrl = ReadonlyMap<string, InlineMedia>;

const TEXT_TYPE = /^text\//;
const IMAGE_TYPE = /^image\//;
/** Ids of another vendor's files, which mean nothing here. */
const FOREIGN_FILE_ID = /^(?:file_|files\/)/;

/** A file as the vendor takes it: text as text, images as images, the rest as data. */
export function encodeFile(part: PartOf<'file'>, media: MediaByUrl, refuse: Refuse): JsonObject[] {
  const { dataUrl, fileId, filename } = part;
  if (dataUrl === undefined && fileId !== undefined && FOREIGN_FILE_ID.test(fileId)) {
    refuse('messages', "holds a file by another vendor's id, which is unknown to");
    return [];
  }
  const inline = dataUrl === undefined ? undefined : (parseDataUrl(dataUrl) ?? media.get(dataUrl));
  if (inline !== undefined && TEXT_TYPE.test(inline.mimeType)) return [textPart(inline, filename)];
  const url = inline === undefined ? dataUrl : `data:${inline.mimeType};base64,${inline.dataBase64}`;
  if (inline !== undefined && IMAGE_TYPE.test(inline.mimeType))
    return [{ type: 'image_url', image_url: { url: url ?? '' } }];
  const file: JsonObject = {};
  if (url !== undefined) file.file_data = url;
  if (fileId !== undefined) file.file_id = fileId;
  // Data without a name is refused.
  if (filename !== undefined || url !== undefined) file.filename = filename ?? 'document';
  return [{ type: 'file', file }];
}

/** The vendor reads no text files; their words go among the others, under their title. */
function textPart({ dataBase64 }: InlineMedia, title: string | undefined): JsonObject {
  const text = Buffer.from(dataBase64, 'base64').toString('utf8');
  return { type: 'text', text: title === undefined ? text : `${title}\n\n${text}` };
}
