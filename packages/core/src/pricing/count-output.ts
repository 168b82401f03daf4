// Estimates output tokens without a vendor's count: about four bytes each.
import { isObject, type JsonObject, type JsonValue } from '../chat/json';

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

/** Message fields that the vendor adds to the model's output. */
const ADDED: ReadonlySet<string> = new Set([
  ...['annotations', 'citations', 'context', 'search_results', 'sources', 'references', 'logprobs'],
  ...['groundingMetadata', 'grounding_metadata', 'citationMetadata', 'urlContextMetadata', 'safetyRatings'],
  ...['content_filter_results', 'content_filter_result', 'content_filter_offsets', 'provider_specific_fields'],
  ...['native_finish_reason', 'metadata'],
]);
/** Lists of blocks. */
const BLOCKS: ReadonlySet<string> = new Set(['native_content', 'executed_tools']);

/** The same for a field of a message. */
export function countField(name: string, value: JsonValue | undefined): number {
  if (UNSAID.has(name) || ADDED.has(name)) return 0;
  return BLOCKS.has(name) ? countBlocks(value) : countOutput(value, MEDIA.has(name));
}

/** The same for blocks, items or parts of an answer. */
export function countBlocks(blocks: JsonValue | undefined): number {
  if (!Array.isArray(blocks)) return countOutput(blocks);
  return blocks.reduce<number>((sum, block) => sum + (isObject(block) ? countBlock(block) : countOutput(block)), 0);
}

const THOUGHT = /^(?:reasoning|thinking|redacted_thinking)(?:\.|$)/;
/** Blocks that the vendor's tools write. */
const RESULT = /_(?:result|output)$|^mcp_list_tools$/;
/** Fields of blocks that the vendor or its tools write. */
const MARKS: ReadonlySet<string> = new Set(['annotations', 'citations', 'logprobs', 'sources', 'codeExecutionResult']);
const RESULTS: Readonly<Record<string, readonly string[]>> = {
  mcp_call: ['output', 'error', 'server_label'],
  code_interpreter_call: ['outputs'],
  file_search_call: ['results'],
  web_search_call: ['results'],
  python: ['output', 'code_results'],
  search: ['output', 'search_results'],
};
const NO_RESULTS: readonly string[] = [];

function countBlock(block: JsonObject): number {
  const type = typeof block.type === 'string' ? block.type : '';
  if (RESULT.test(type)) return 0;
  if (THOUGHT.test(type)) return countThought(block);
  const results = Object.hasOwn(RESULTS, type) ? RESULTS[type] : NO_RESULTS;
  let bytes = 0;
  for (const [name, value] of Object.entries(block)) {
    if (UNSAID.has(name) || MARKS.has(name) || results?.includes(name) === true || name.endsWith('_id')) continue;
    if (name === 'content') bytes += countBlocks(value);
    else bytes += name === 'action' ? countBlocks([value]) : countOutput(value, MEDIA.has(name));
  }
  return bytes;
}

/** The same for a whole thought. What seals it is as long as its text, but for Gemini's signatures. */
export function countThought(thought: JsonObject): number {
  const { text, summary, content, thinking, data, signature, encrypted_content: sealed, format, ...others } = thought;
  if (format === GEMINI) return countOutput(data);
  const told = [text, summary, content, thinking].reduce<number>((sum, value) => sum + countOutput(value), 0);
  return Math.max(told, sealedBytes(sealed)) || sealedBytes(data ?? signature) || countOutput(others);
}

const GEMINI = 'google-gemini-v1';
const sealedBytes = (value: JsonValue | undefined): number =>
  typeof value === 'string' ? Math.ceil((value.length * 3) / 4) : 0;
