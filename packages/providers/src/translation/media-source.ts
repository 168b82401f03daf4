import type { ChatRequest } from '@llm0/core/chat/request';

/** Media that travels inside a request. */
export interface InlineMedia {
  /** Without parameters, e.g. `image/png`. */
  readonly mimeType: string;
  readonly dataBase64: string;
}

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i;
const DEFAULT_MIME_TYPE = 'text/plain';

/** A data URL's content; undefined for anything else. Percent-encoded content becomes base64. */
export function parseDataUrl(url: string): InlineMedia | undefined {
  // Matches only the head: the data may be megabytes.
  const head = DATA_URL.exec(url.slice(0, 1000));
  if (head === null) return undefined;
  const [prefix, type = '', parameters = ''] = head;
  const data = url.slice(prefix.length);
  const mimeType = type === '' ? DEFAULT_MIME_TYPE : type.toLowerCase();
  if (/;base64$/i.test(parameters)) return { mimeType, dataBase64: data.trim() };
  return { mimeType, dataBase64: Buffer.from(decodePercent(data)).toString('base64') };
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function isHttpUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/** The http(s) URLs among a request's parts of these kinds, each once. */
export function remoteUrls({ messages }: ChatRequest, kinds: readonly ('image' | 'file')[]): readonly string[] {
  const urls = messages.flatMap(({ content }) =>
    content.map((part) => {
      if (part.type === 'image') return kinds.includes('image') ? part.url : undefined;
      return part.type === 'file' ? part.dataUrl : undefined;
    }),
  );
  return [...new Set(urls.filter((url): url is string => url !== undefined && isHttpUrl(url)))];
}

/** Content of a file: a data URL, or bare base64 with its type from the name. */
export function readFileData(dataUrl: string, filename: string | undefined): InlineMedia | undefined {
  const inline = parseDataUrl(dataUrl);
  if (inline !== undefined) return inline;
  const mimeType = mimeTypeOfName(filename ?? '');
  return mimeType !== undefined && /^[A-Za-z0-9+/=\s]+$/.test(dataUrl.slice(0, 1000))
    ? { mimeType, dataBase64: dataUrl }
    : undefined;
}

/** The kind of a file by its extension. */
export function mimeTypeOfName(filename: string): string | undefined {
  return MIME_BY_EXTENSION.get(filename.split('.').at(-1)?.toLowerCase() ?? '');
}

const MIME_BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]);
