// Files of the vendor's Files API belong to the gateway's account there, so any project may have stored them.
import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';

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

/** Place of the first part that names such a file. Source: https://ai.google.dev/api/caching#FileData */
export function findStoredFile(body: JsonObject): string | undefined {
  return findIn(body, '');
}

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
