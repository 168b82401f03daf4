import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { PartOf } from '../translation/encode-turns';
import { type InlineMedia, isHttpUrl, parseDataUrl, readFileData, remoteUrls } from '../translation/media-source';
import type { Refuse } from '../translation/refuse-parameter';
import { toVendorName } from '../translation/vendor-names';

/** Objects in the vendor's storage, which it reads by itself. */
const STORAGE_URL = /^s3:\/\//i;

type MediaByUrl = ReadonlyMap<string, InlineMedia>;
/** Kinds of content by MIME type, as the vendor calls them. */
const FORMATS: ReadonlyMap<string, readonly [kind: 'image' | 'document' | 'video', format: string]> = new Map([
  ['image/png', ['image', 'png']],
  ['image/jpeg', ['image', 'jpeg']],
  ['image/jpg', ['image', 'jpeg']],
  ['image/gif', ['image', 'gif']],
  ['image/webp', ['image', 'webp']],
  ['application/pdf', ['document', 'pdf']],
  ['text/plain', ['document', 'txt']],
  ['text/markdown', ['document', 'md']],
  ['text/csv', ['document', 'csv']],
  ['text/html', ['document', 'html']],
  ['application/msword', ['document', 'doc']],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', ['document', 'docx']],
  ['application/vnd.ms-excel', ['document', 'xls']],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', ['document', 'xlsx']],
  ['video/mp4', ['video', 'mp4']],
  ['video/quicktime', ['video', 'mov']],
  ['video/webm', ['video', 'webm']],
]);

export interface MediaContext {
  readonly media: MediaByUrl;
  readonly refuse: Refuse;
  /** Documents so far: their names must differ. */
  readonly documents: { count: number };
}

/** Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html */
export function encodeImage(part: PartOf<'image'>, context: MediaContext): JsonObject[] {
  return encodeUrl(part.url, undefined, context);
}

/** Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html */
export function encodeFile({ dataUrl, filename }: PartOf<'file'>, context: MediaContext): JsonObject[] {
  const inline = isHttpUrl(dataUrl) || STORAGE_URL.test(dataUrl) ? undefined : readFileData(dataUrl, filename);
  return inline === undefined ? encodeUrl(dataUrl, filename, context) : encodeInline(inline, filename, context);
}

function encodeUrl(url: string, filename: string | undefined, context: MediaContext): JsonObject[] {
  const inline = parseDataUrl(url) ?? context.media.get(url);
  if (inline !== undefined) return encodeInline(inline, filename ?? nameOfUrl(url), context);
  if (STORAGE_URL.test(url)) {
    const found = formatOfName(url);
    if (found !== undefined) return [block(found, { s3Location: { uri: url } }, filename ?? nameOfUrl(url), context)];
  }
  throw invalidRequest(
    'messages',
    "A message has a media URL that couldn't be read. Send a data URL, an http(s) URL of a public image, or s3://.",
  );
}

function encodeInline(media: InlineMedia, filename: string | undefined, context: MediaContext): JsonObject[] {
  const found = FORMATS.get(media.mimeType);
  if (found !== undefined) return [block(found, { bytes: media.dataBase64 }, filename, context)];
  context.refuse('messages', `holds ${media.mimeType}, which is unknown to`);
  return [];
}

function block(
  [kind, format]: readonly [string, string],
  source: JsonObject,
  filename: string | undefined,
  { documents }: MediaContext,
): JsonObject {
  if (kind !== 'document') return { [kind]: { format, source } };
  documents.count += 1;
  return { document: { format, name: documentName(filename, documents.count), source } };
}

const DOCUMENT_NAME = { valid: /^[A-Za-z0-9 ()[\]-]+$/, forbidden: /[^A-Za-z0-9 ()[\]-]+/g, maxLength: 150 } as const;

/** Letters, digits, single spaces, hyphens and brackets are taken; names within a request must differ. */
function documentName(filename: string | undefined, count: number): string {
  const readable = (filename ?? 'document').replace(/\.[a-z0-9]{2,5}$/i, '').replace(DOCUMENT_NAME.forbidden, '-');
  const name = toVendorName(readable.replace(/\s+/g, ' ').trim() || 'document', DOCUMENT_NAME).replace(/_/g, '-');
  return count === 1 ? name : `${name} (${count})`;
}

function nameOfUrl(url: string): string | undefined {
  const path = url.startsWith('data:') ? undefined : url.split(/[?#]/)[0]?.split('/').at(-1);
  return path === '' ? undefined : path;
}

function formatOfName(url: string): readonly ['image' | 'document' | 'video', string] | undefined {
  const extension = url.split(/[?#]/)[0]?.split('.').at(-1)?.toLowerCase() ?? '';
  const wanted = extension === 'jpg' ? 'jpeg' : extension;
  return [...FORMATS.values()].find(([, format]) => format === wanted) as ['image', string] | undefined;
}

/** The http(s) URLs of a request: the vendor fetches nothing by itself. */
export function listRemoteMedia(request: ChatRequest): readonly string[] {
  return remoteUrls(request, ['image', 'file']);
}
