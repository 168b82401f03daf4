import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { stopAtFile } from '@llm0/core/chat/own-files';
import type { ContentPart } from '@llm0/core/chat/request';
import {
  cacheControl,
  invalid,
  isObject,
  keepUnknown,
  mustBe,
  present,
  requiredText,
  saysMore,
  textOf,
} from '../read-fields';

/** A `content` or `system` (text or blocks) → parts. Unknown blocks or fields stay raw. */
export function decodeContent(value: JsonValue | undefined, path: string, extra: JsonObject): ContentPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  return readBlocks(value, path).map((block, i) => decodeBlock(block, `${path}[${i}]`, extra));
}

/** The blocks of a message. Throws for anything else. */
export function readBlocks(value: JsonValue | undefined, path: string): JsonObject[] {
  if (!Array.isArray(value)) throw mustBe(path, 'a string or an array of blocks', value);
  return value.map((item, i) => {
    if (!isObject(item)) throw mustBe(`${path}[${i}]`, 'a block', item);
    if (typeof item.type === 'string') return item;
    throw invalid(`${path}[${i}].type`, `"${path}[${i}].type" must say what the block is.`);
  });
}

export function decodeBlock(block: JsonObject, path: string, extra: JsonObject): ContentPart {
  const part = BLOCK_DECODERS.get(String(block.type))?.(block, path, extra);
  return part ?? { type: 'raw', format: 'anthropic-messages', value: block };
}

/** undefined: only this format can express it. */
type BlockDecoder = (block: JsonObject, path: string, extra: JsonObject) => ContentPart | undefined;

const BLOCK_DECODERS: ReadonlyMap<string, BlockDecoder> = new Map<string, BlockDecoder>([
  ['text', decodeText],
  ['image', decodeImage],
  ['document', decodeDocument],
  ['container_upload', decodeUpload],
]);

const TEXT_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'cache_control']);
const IMAGE_FIELDS: ReadonlySet<string> = new Set(['type', 'source', 'cache_control']);
const DOCUMENT_FIELDS: ReadonlySet<string> = new Set(['type', 'source', 'cache_control', 'title', 'citations']);

function decodeText(block: JsonObject, path: string, extra: JsonObject): ContentPart {
  const text = requiredText(block, 'text', path);
  keepUnknown(block, TEXT_FIELDS, path, extra);
  return { type: 'text', text, ...cacheControl(block) };
}

function decodeImage(block: JsonObject, path: string): ContentPart | undefined {
  const source = requiredSource(block, path);
  const url = urlOf(source, `${path}.source`);
  return url === undefined || saysMore(block, IMAGE_FIELDS)
    ? undefined
    : { type: 'image', url, ...cacheControl(block) };
}

/** Only this format has it. */
function decodeUpload(block: JsonObject, path: string): undefined {
  stopAtFile(block.file_id, `${path}.file_id`);
}

function decodeDocument(block: JsonObject, path: string): ContentPart | undefined {
  const source = requiredSource(block, path);
  const filename = textOf(block.title);
  const isCited = isObject(block.citations) && block.citations.enabled === true;
  if (isCited || saysMore(block, DOCUMENT_FIELDS)) return undefined;
  const dataUrl = urlOf(source, `${path}.source`);
  return dataUrl === undefined
    ? undefined
    : { ...present({ type: 'file', dataUrl, filename }), ...cacheControl(block) };
}

function requiredSource({ source }: JsonObject, path: string): JsonObject {
  if (isObject(source) && typeof source.type === 'string') {
    if (source.type === 'file') stopAtFile(source.file_id, `${path}.source.file_id`);
    return source;
  }
  throw mustBe(`${path}.source`, 'an object with a "type"', source);
}

/** Content as one URL; undefined for other sources. */
function urlOf(source: JsonObject, path: string): string | undefined {
  if (source.type === 'url') return requiredText(source, 'url', path);
  if (source.type === 'base64') {
    return `data:${requiredText(source, 'media_type', path)};base64,${requiredText(source, 'data', path)}`;
  }
  if (source.type !== 'text') return undefined;
  return `data:text/plain;base64,${Buffer.from(requiredText(source, 'data', path)).toString('base64')}`;
}
