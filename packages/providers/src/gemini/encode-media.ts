import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { refuseStored } from '@llm0/core/chat/own-files';
import type { ChatRequest } from '@llm0/core/chat/request';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { PartOf } from '../translation/encode-turns';
import { type InlineMedia, isHttpUrl, parseDataUrl, readFileData, remoteUrls } from '../translation/media-source';
import type { Refuse } from '../translation/refuse-parameter';

/** URLs the vendor reads by itself: its storage, and videos. */
const OWN_URL = /^(?:gs:\/\/|https:\/\/(?:www\.|m\.)?youtube\.com\/|https:\/\/youtu\.be\/)/i;

/** Of a file that is no PDF, picture or text. */
const UNKNOWN_TYPE = 'application/octet-stream';

export type MediaByUrl = ReadonlyMap<string, InlineMedia>;

export function encodeFile(part: PartOf<'file'>, media: MediaByUrl, refuse: Refuse): JsonObject[] {
  const { dataUrl, filename } = part;
  if (isHttpUrl(dataUrl) || OWN_URL.test(dataUrl)) return [encodeUrl(dataUrl, media)];
  const inline = readFileData(dataUrl, filename);
  if (inline !== undefined && inline.mimeType !== UNKNOWN_TYPE) return [inlineData(inline)];
  refuse('messages', 'holds a file (data of a known type or a URL are taken) unknown to');
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
  if (isHttpUrl(url) && isStoredFile(url)) {
    throw refuseStored('messages', 'Upload the file to /v1/files, and send the id from there.');
  }
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
  return remoteUrls(request, ['image', 'file']).filter((url) => !OWN_URL.test(url) && !isStoredFile(url));
}

// Files of the vendor's Files API belong to the gateway's account there, so any project may have stored them.
const FILES_HOST = 'generativelanguage.googleapis.com';
/** Of public pages, and of storage that an operator grants. */
const PROTOCOLS: ReadonlySet<string> = new Set(['https:', 'http:', 'gs:']);
/** Names of both spellings. */
const FILE_DATA: ReadonlySet<string> = new Set(['fileData', 'file_data']);
/** What a caller's own functions take and give. */
const OPAQUE: ReadonlySet<string> = new Set(['args', 'response']);

/** True for whatever is no plain URL elsewhere, such as `files/abc`. */
export function isStoredFile(uri: string): boolean {
  const url = URL.parse(uri);
  return url === null || !PROTOCOLS.has(url.protocol) || url.hostname.replace(/\.$/, '') === FILES_HOST;
}

/** Place of the first name of such a file or of cached content. Source: https://ai.google.dev/api/caching */
export function findStored(body: JsonObject): string | undefined {
  return findCached(body) ?? findIn(body, '');
}

const CACHED = ['cachedContent', 'cached_content'];
/** Of requests whose tokens are counted. */
const COUNTED = ['generateContentRequest', 'generate_content_request'];

/** Cached content belongs to the gateway's account, as stored files do. */
function findCached(body: JsonObject): string | undefined {
  const own = findCachedName(body);
  if (own !== undefined) return own;
  return firstOf(COUNTED.entries(), (_index, name) => {
    const inner = body[name];
    const found = isObject(inner) ? findCachedName(inner) : undefined;
    return found === undefined ? undefined : `${name}.${found}`;
  });
}

/** The field of the vendor's that names cached content. */
export const findCachedName = (fields: JsonObject): string | undefined =>
  CACHED.find((name) => fields[name] !== undefined && fields[name] !== null);

function findIn(value: JsonValue | undefined, path: string): string | undefined {
  if (Array.isArray(value)) return firstOf(value.entries(), (index, item) => findIn(item, `${path}[${index}]`));
  if (!isObject(value)) return undefined;
  return firstOf(Object.entries(value), (name, inner) => {
    if (OPAQUE.has(name)) return undefined;
    const place = path === '' ? name : `${path}.${name}`;
    return FILE_DATA.has(name) && isObject(inner) ? uriIn(inner, place) : findIn(inner, place);
  });
}

const uriIn = (data: JsonObject, path: string): string | undefined =>
  firstOf(['fileUri', 'file_uri'].entries(), (_index, name) => {
    const uri = data[name];
    return typeof uri === 'string' && isStoredFile(uri) ? `${path}.${name}` : undefined;
  });

function firstOf<K, V>(
  entries: Iterable<readonly [K, V]>,
  find: (key: K, value: V) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const found = find(key, value);
    if (found !== undefined) return found;
  }
  return undefined;
}
