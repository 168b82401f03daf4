import type { JsonObject } from '@llm0/core/chat/json';
import type { PartOf } from '../translation/encode-turns';
import { type InlineMedia, isHttpUrl, parseDataUrl, readFileData } from '../translation/media-source';
import type { Refuse } from '../translation/refuse-parameter';

const TEXT_TYPE = /^text\//;

/** Source: https://platform.claude.com/docs/en/build-with-claude/vision */
export function encodeImage(part: PartOf<'image'>, refuse: Refuse): JsonObject[] {
  const inline = parseDataUrl(part.url);
  const block = inline && inlineBlock(inline);
  if (block !== undefined) return [block];
  if (isHttpUrl(part.url)) return [{ type: 'image', source: { type: 'url', url: part.url } }];
  refuse('messages', 'holds an image that is neither an http(s) URL nor the data of an image, which cannot be sent to');
  return [];
}

/** Source: https://platform.claude.com/docs/en/build-with-claude/pdf-support */
export function encodeFile(part: PartOf<'file'>, refuse: Refuse): JsonObject[] {
  const block = fileBlock(part);
  if (block === undefined) {
    refuse('messages', 'holds a file (PDF, text or image data or an http(s) URL are taken) unknown to');
    return [];
  }
  if (part.filename !== undefined && block.type === 'document') block.title = part.filename;
  return [block];
}

function fileBlock({ dataUrl, filename }: PartOf<'file'>): JsonObject | undefined {
  if (isHttpUrl(dataUrl)) return { type: 'document', source: { type: 'url', url: dataUrl } };
  const inline = readFileData(dataUrl, filename);
  return inline === undefined ? undefined : inlineBlock(inline);
}

/** undefined for what the vendor doesn't read. */
function inlineBlock({ mimeType, dataBase64 }: InlineMedia): JsonObject | undefined {
  if (TEXT_TYPE.test(mimeType)) {
    const data = Buffer.from(dataBase64, 'base64').toString('utf8');
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data } };
  }
  const type = mimeType === 'application/pdf' ? 'document' : mimeType.startsWith('image/') ? 'image' : undefined;
  if (type === undefined) return undefined;
  return { type, source: { type: 'base64', media_type: imageType(mimeType), data: dataBase64 } };
}

function imageType(mimeType: string): string {
  return mimeType === 'image/jpg' ? 'image/jpeg' : mimeType;
}
