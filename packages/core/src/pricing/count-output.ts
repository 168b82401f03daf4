// Estimates output tokens without a vendor's count: about four bytes each.
import { isObject, type JsonObject, type JsonValue } from '../chat/json';

/** Fields without output text. */
const UNSAID: ReadonlySet<string> = new Set([
  ...['role', 'type', 'id', 'object', 'status', 'mimeType', 'mime_type', 'format'],
]);
/** Names that hold media, or where they are. */
const MEDIA: ReadonlySet<string> = new Set(['data', 'b64_json', 'image_url', 'fileUri', 'file_uri']);
/** Thoughts in base64, which are as long as their text. */
const ENCRYPTED = 'encrypted_content';
/** A linked picture, which commonly costs 1,500 tokens. */
const LINKED_BYTES = 6000;
/** Characters of base64 per token: close to vendors' counts for a 1.5 MB picture or ten seconds of speech. */
const ENCODED_PER_TOKEN = 1000;
const ENCODED = /^(?:data:|[\w+/=-]{256})/;

/** UTF-8 bytes of every text in a value, with media as equivalent bytes. */
export function countOutput(value: JsonValue | undefined, isMedia = false): number {
  if (typeof value === 'string') return isMedia || ENCODED.test(value) ? mediaBytes(value) : Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 0;
  for (const [name, item] of Object.entries(value)) {
    if (name === ENCRYPTED && typeof item === 'string') bytes += Math.ceil((item.length * 3) / 4);
    else if (!UNSAID.has(name)) bytes += countOutput(item, isMedia || MEDIA.has(name));
  }
  return bytes;
}

const mediaBytes = (value: string): number =>
  /^https?:/i.test(value) ? LINKED_BYTES : 4 * Math.ceil(value.length / ENCODED_PER_TOKEN);

/** Message fields that the vendor adds to the model's output: sources, filter results, its own counts. */
const ADDED = /annotation|citation|context|filter|metadata|provider_specific|rating|result|source/i;

/** The same for a field of a message. */
export const countField = (name: string, value: JsonValue | undefined): number =>
  UNSAID.has(name) || ADDED.test(name) ? 0 : countOutput(value, MEDIA.has(name));

/** Items and parts whose text other events hold. */
const READ: ReadonlySet<JsonValue | undefined> = new Set([
  ...['function_call', 'custom_tool_call', 'output_text', 'refusal', 'reasoning_text', 'summary_text'],
]);

/** Output in a native answer's items that no other event holds: calls of hosted tools, hidden thoughts, unknown kinds. */
export function countUnread(items: JsonValue | undefined): number {
  if (!Array.isArray(items)) return 0;
  let bytes = 0;
  for (const item of items) {
    if (!isObject(item)) continue;
    if (item.type === 'message') bytes += countUnread(item.content);
    else if (item.type === 'reasoning') bytes += hasThoughts(item) ? 0 : countOutput(item);
    else if (!READ.has(item.type)) bytes += countOutput(item);
  }
  return bytes;
}

const hasThoughts = ({ summary, content }: JsonObject): boolean =>
  countOutput(summary ?? null) + countOutput(content ?? null) > 0;
