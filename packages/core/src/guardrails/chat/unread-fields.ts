import type { JsonObject, JsonValue } from '../../chat/json';
import { CODINGS, encodingOf, wideEncodingOf } from '../decoders/encodings';

/** Fields that only their vendor can read. It rejects a changed value. */
const SEALED: ReadonlySet<string> = new Set([
  ...['signature', 'thought_signature', 'thoughtSignature', 'encrypted_content', 'encryptedContent', 'encrypted_index'],
]);
/** Names that only vendors use; other names are common and count only in blocks of these types. */
const THOUGHTS: ReadonlySet<string> = new Set(['thought_signature', 'thoughtSignature', 'encrypted_index']);
const SEALED_TYPES =
  /^(?:thinking|redacted_thinking|signature_delta|reasoning|compaction|tool_use|function|custom)(?![a-z])|^(?:function_call|custom_tool_call|server_tool_use|web_search_|web_fetch_|code_execution_)/;
/** Shorter ones are read all the same, as identifiers are. */
const LEAST_SEALED = 64;

/** Media, in base64. */
const MEDIA: ReadonlySet<string> = new Set(['data', 'dataBase64', 'file_data', 'b64_json', 'bytes', 'blob']);
const LEAST_MEDIA = 256;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** Wrapped in lines. */
const BASE64_LINES = /^[A-Za-z0-9+/_\r\n-]+={0,2}[\r\n]{0,2}$/;
const HEAD = /^data:[^,]{0,200};base64,/i;
/** Head of a data URL: a media type and nothing more. */
const MEDIA_HEAD = /^data:[a-z]{1,20}\/[a-z0-9.+-]{1,80}(?:;(?:charset|codecs)=[a-z0-9.-]{1,20})?;base64,$/i;
const MOST_HEAD = 256;
const MOST_HEAD_DIGITS = 6;
/** Characters of base64 that identify most non-text. */
const LOOKED_AT = 128;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what no text has in it
const CONTROL = /[\x00-\x08\x0e-\x1a\x1c-\x1f]/;

/** True for a vendor's sealed data, by its block and its look. */
export function isSealed(holder: JsonObject, name: string): boolean {
  const value = holder[name];
  if (!SEALED.has(name) || typeof value !== 'string' || value.length < LEAST_SEALED) return false;
  const isPlace = THOUGHTS.has(name) || (typeof holder.type === 'string' && SEALED_TYPES.test(holder.type));
  return isPlace && isSealedText(value);
}

/** Base64, optionally with the sealer's mark. */
export const isSealedText = (value: string): boolean =>
  value.length >= LEAST_SEALED && BASE64.test(value.replace(/^[a-z0-9]{1,16}[.:]/, ''));

export const isSealing = (name: string): boolean => SEALED.has(name);
export const isMediaField = (name: string): boolean => MEDIA.has(name);

/** Media without readable text. Short ones are read anyway. */
export function isBytes(value: string, name: string): boolean {
  if (value.length < LEAST_MEDIA) return false;
  const head = headOf(value);
  if (head === undefined) return MEDIA.has(name) && BASE64_LINES.test(value);
  const isPlain = MEDIA_HEAD.test(head) && head.replace(/\D/g, '').length <= MOST_HEAD_DIGITS;
  return isPlain && BASE64_LINES.test(value.slice(head.length));
}

/** A file in base64 that is text. */
interface TextFile {
  readonly text: string;
  /** The file with another text. */
  write(text: string): string;
}

/** Decodes a file with text, whatever its declared type. */
export function readTextFile(value: string, name: string): TextFile | undefined {
  const head = headOf(value) ?? (MEDIA.has(name) ? '' : undefined);
  if (head === undefined) return undefined;
  const data = value.slice(head.length);
  if (data === '' || !beginsText(data) || !BASE64_LINES.test(data)) return undefined;
  const read = textIn(data);
  return read && { text: read.text, write: (text) => head + read.encode(text).toString('base64') };
}

const PDF = '%PDF-';
/** In base64. Readers find the mark of a PDF anywhere in the first 1,024 bytes. */
const PDF_HEAD = 1368;

/** As `readTextFile`; undefined for a PDF too, whose words are encoded even where all of it is ASCII. */
export const readPlainFile = (dataUrl: string): TextFile | undefined =>
  isPdf(dataUrl) ? undefined : readTextFile(dataUrl, 'dataUrl');

function isPdf(dataUrl: string): boolean {
  const from = dataUrl.indexOf(',') + 1;
  return Buffer.from(dataUrl.slice(from, from + PDF_HEAD), 'base64')
    .toString('latin1')
    .includes(PDF);
}

const MEDIA_TYPE = /^(?:input_)?(?:image|audio|video|file|document)(?:_url)?$/;
const READ_SOURCES: ReadonlySet<unknown> = new Set(['text', 'content']);

/** Type of a part, or of one inside it, that nobody here can read. */
export function mediaTypeIn(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) {
    const { type, source } = value;
    const sourceType =
      typeof source === 'object' && source !== null && !Array.isArray(source) ? source.type : undefined;
    if (typeof type === 'string' && MEDIA_TYPE.test(type) && !READ_SOURCES.has(sourceType)) return type;
  }
  for (const inner of Object.values(value)) {
    const found = mediaTypeIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** False for most non-text. */
function beginsText(base64: string): boolean {
  const bytes = Buffer.from(base64.slice(0, LOOKED_AT), 'base64');
  const wide = wideEncodingOf(bytes);
  return !CONTROL.test(wide === undefined ? bytes.toString('latin1') : CODINGS[wide].decode(bytes));
}

function textIn(base64: string): { readonly text: string; readonly encode: (text: string) => Buffer } | undefined {
  const bytes = Buffer.from(base64, 'base64');
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return undefined;
  const { decode, encode } = CODINGS[encoding];
  const text = decode(bytes);
  return CONTROL.test(text) ? undefined : { text, encode };
}

const headOf = (value: string): string | undefined =>
  value.startsWith('data:') || value.startsWith('DATA:') ? HEAD.exec(value.slice(0, MOST_HEAD))?.[0] : undefined;
