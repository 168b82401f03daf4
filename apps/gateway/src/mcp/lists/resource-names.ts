import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';

/**
 * Resources of several servers behind one URL: the alias precedes the scheme (`mcp.github+file:///a`), which is unique
 * and works with templates.
 */
const PREFIX = 'mcp.';
const MARK = '+';

export const joinUri = (alias: string, uri: string): string => `${PREFIX}${alias}${MARK}${uri}`;

/** undefined for URIs that name no server. */
export function splitUri(text: string): { readonly alias: string; readonly uri: string } | undefined {
  const mark = text.indexOf(MARK);
  if (!text.startsWith(PREFIX) || mark === -1) return undefined;
  return { alias: text.slice(PREFIX.length, mark), uri: text.slice(mark + 1) };
}

/** A cheap test that skips most texts. */
export const mayNameResources = (text: string): boolean => text.includes('"resource');

/** A result with the URIs in it named as the client must ask for them. */
export function nameResources(alias: string, result: JsonObject): JsonObject {
  const contents = (items: JsonValue | undefined) =>
    Array.isArray(items) ? items.map((item) => (isObject(item) ? withUri(alias, item) : item)) : undefined;
  const named: JsonObject = { ...result };
  const read = contents(result.contents);
  if (read !== undefined) named.contents = read;
  if (Array.isArray(result.content)) named.content = result.content.map((block) => nameBlock(alias, block));
  if (Array.isArray(result.messages)) {
    named.messages = result.messages.map((message) =>
      isObject(message) ? { ...message, content: nameBlock(alias, message.content ?? null) } : message,
    );
  }
  return named;
}

function nameBlock(alias: string, block: JsonValue): JsonValue {
  if (!isObject(block)) return block;
  if (block.type === 'resource_link') return withUri(alias, block);
  if (block.type !== 'resource' || !isObject(block.resource)) return block;
  return { ...block, resource: withUri(alias, block.resource) };
}

const withUri = (alias: string, item: JsonObject): JsonObject =>
  typeof item.uri === 'string' ? { ...item, uri: joinUri(alias, item.uri) } : item;
