// Estimates output tokens without a vendor's count: about four bytes each.
import type { JsonObject, JsonValue } from '../chat/json';

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
  const isSealed = 'type' in value && value.type === 'redacted_thinking';
  for (const [name, item] of Object.entries(value)) {
    if (name === ENCRYPTED || (name === 'data' && isSealed)) bytes += sealedBytes(item);
    else if (!UNSAID.has(name)) bytes += countOutput(item, isMedia || MEDIA.has(name));
  }
  return bytes;
}

const mediaBytes = (value: string): number =>
  /^https?:/i.test(value) ? LINKED_BYTES : 4 * Math.ceil(value.length / ENCODED_PER_TOKEN);

/** Message fields that the vendor adds to the model's output. */
const ADDED: ReadonlySet<string> = new Set([
  ...[
    'annotations',
    'citations',
    'context',
    'search_results',
    'sources',
    'references',
    'logprobs',
    'native_finish_reason',
  ],
  ...['groundingMetadata', 'grounding_metadata', 'citationMetadata', 'urlContextMetadata', 'safetyRatings'],
  ...[
    'content_filter_results',
    'content_filter_result',
    'content_filter_offsets',
    'provider_specific_fields',
    'metadata',
  ],
]);

/** The same for a field of a message. */
export const countField = (name: string, value: JsonValue | undefined): number =>
  UNSAID.has(name) || ADDED.has(name) ? 0 : countOutput(value, MEDIA.has(name));

/** The same for a whole thought. What seals it is as long as its text, but for Gemini's signatures. */
export function countThought(thought: JsonObject): number {
  const { text, summary, data, signature, format, ...others } = thought;
  if (format === GEMINI) return countOutput(data);
  const told = countOutput(text) + countOutput(summary) || sealedBytes(data ?? signature);
  return told || countOutput(others);
}

const GEMINI = 'google-gemini-v1';
const sealedBytes = (value: JsonValue | undefined): number =>
  typeof value === 'string' ? Math.ceil((value.length * 3) / 4) : 0;
