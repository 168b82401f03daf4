// Estimates output tokens without a vendor's count: about four bytes each.
import type { JsonValue } from '../chat/json';

/** Fields without output text. */
const UNSAID: ReadonlySet<string> = new Set([
  ...['role', 'type', 'id', 'object', 'status', 'mimeType', 'mime_type', 'format'],
]);
/** Names that hold media, or where they are. */
const MEDIA: ReadonlySet<string> = new Set(['data', 'b64_json', 'image_url', 'fileUri', 'file_uri']);
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
    if (!UNSAID.has(name)) bytes += countOutput(item, isMedia || MEDIA.has(name));
  }
  return bytes;
}

const mediaBytes = (value: string): number =>
  /^https?:/i.test(value) ? LINKED_BYTES : 4 * Math.ceil(value.length / ENCODED_PER_TOKEN);

/** Counts media only. */
export function countEncoded(value: JsonValue | undefined): number {
  if (typeof value === 'string') return ENCODED.test(value) ? mediaBytes(value) : 0;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + countEncoded(item), 0);
}
