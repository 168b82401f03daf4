// References by the names and kinds of all formats: their content isn't in the request, so its cost is unknown.
import type { JsonValue } from '../chat/json';

/** Names of media, or of references to stored content. */
const REFERENCES: ReadonlySet<string> = new Set([
  ...['image_url', 'video_url', 'audio_url', 'document_url', 'file_url', 'input_audio', 'input_image', 'input_video'],
  ...['audio', 'image', 'video', 'document', 'file', 'file_id', 'file_ids', 'file_data', 'reference_ids'],
  ...['inlineData', 'inline_data', 'fileData', 'source', 's3Location', 'item_reference', 'container'],
]);
/** Kinds of items and parts that are such a pointer. */
const REFERENCE_TYPES = /^(?:item_reference|reference|container_upload|(?:image|video|audio|document|file)(?:_url)?)$/;
/** Fields of an item that only references stored content. */
const POINTER_FIELDS: ReadonlySet<string> = new Set(['id', 'type']);
export const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
  ...['parameters', 'input_schema', 'inputSchema', 'schema', 'json_schema', 'parametersJsonSchema', 'responseSchema'],
  ...['args', 'arguments', 'response', 'metadata'],
]);

/** Media and references in a request, or a part of one. */
export function countReferences(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countReferences(item), 0);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined && item !== null);
  const isPointer = typeof value.id === 'string' && entries.every(([name]) => POINTER_FIELDS.has(name));
  let found = 0;
  for (const [name, item] of entries) {
    if (OPAQUE_FIELDS.has(name)) continue;
    found += REFERENCES.has(name) ? 1 : countReferences(item);
  }
  if (found > 0) return found;
  return isPointer || (typeof value.type === 'string' && REFERENCE_TYPES.test(value.type)) ? 1 : 0;
}
