import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { PartOf } from '../translation/encode-turns';
import { type InlineMedia, isHttpUrl, parseDataUrl, readFileData, remoteUrls } from '../translation/media-source';
import type { Refuse } from '../translation/refuse-parameter';

/** URLs the vendor reads by itself: its storage, its Files API, and videos. */
const OWN_URL =
  /^(?:gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/|https:\/\/(?:www\.|m\.)?youtube\.com\/|https:\/\/youtu\.be\/)/i;
const FILE_ID = /^files\//;
const FILES_ROOT = 'https://generativelanguage.googleapis.com/v1beta/';

export type MediaByUrl = ReadonlyMap<string, InlineMedia>;

export function encodeFile(part: PartOf<'file'>, media: MediaByUrl, refuse: Refuse): JsonObject[] {
  const { dataUrl, fileId, filename } = part;
  if (dataUrl === undefined && fileId !== undefined) {
    if (FILE_ID.test(fileId)) return [{ fileData: { fileUri: `${FILES_ROOT}${fileId}` } }];
    if (OWN_URL.test(fileId)) return [{ fileData: { fileUri: fileId } }];
  }
  if (dataUrl !== undefined) {
    if (isHttpUrl(dataUrl) || OWN_URL.test(dataUrl)) return [encodeUrl(dataUrl, media)];
    const inline = readFileData(dataUrl, filename);
    if (inline !== undefined) return [inlineData(inline)];
  }
  refuse('messages', 'holds a file (data, a URL or an own file id are taken) unknown to');
  return [];
}

export function encodeAudio(part: PartOf<'audio'>): JsonObject {
  return inlineData({ mimeType: `audio/${part.format}`, dataBase64: part.dataBase64 });
}

/** Source: https://ai.google.dev/gemini-api/docs/image-understanding */
export function encodeUrl(url: string, media: MediaByUrl): JsonObject {
  const inline = parseDataUrl(url) ?? media.get(url);
  if (inline !== undefined) return inlineData(inline);
  if (OWN_URL.test(url)) return { fileData: { fileUri: url } };
  throw invalidRequest(
    'messages',
    "A message has an image URL that couldn't be read. Send a data URL, or an http(s) URL of a public image.",
  );
}

function inlineData({ mimeType, dataBase64 }: InlineMedia): JsonObject {
  return { inlineData: { mimeType, data: dataBase64 } };
}

/** The http(s) URLs of a request that the vendor does not read by itself: their content must travel with it. */
export function listRemoteMedia(request: ChatRequest): readonly string[] {
  return remoteUrls(request, ['image', 'file']).filter((url) => !OWN_URL.test(url));
}
