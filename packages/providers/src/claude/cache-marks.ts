import type { JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest, ContentPart, Tool } from '@llm0/core/chat/request';
import { countMarks, type DroppedParameters, isMarked, type Markable } from '../translation/refuse-parameter';

/** Most points up to which one request may have its prompt cached. */
const MAX_MARKS = 4;

/** Cache hints in OpenAI's formats. */
export const CACHE_HINTS: ReadonlySet<string> = new Set(['prompt_cache_key', 'prompt_cache_retention']);

export interface MarkRules {
  readonly dropped: DroppedParameters;
  /** Points that may be set, e.g. fewer where the vendor sets one by itself; 0 where the model caches nothing. */
  readonly most?: number;
  /** Definitions of tools may be marked. */
  readonly tools?: boolean;
}

/**
 * Places cache points: the caller's own, or for a hint, after the system text and the last two turns. Beyond the limit,
 * the latest stay and the rest is reported. Source:
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export function withCacheMarks(
  request: ChatRequest,
  { dropped, most = MAX_MARKS, tools = true }: MarkRules,
): ChatRequest {
  const asked = countMarks(request);
  if (asked === 0) return most > 0 ? withHintedMarks(request, tools) : request;
  const toolMarks = (request.tools ?? []).filter(isMarked).length;
  const kept = tools ? asked : asked - toolMarks;
  let left = Math.max(0, kept - most);
  if (left === 0 && kept === asked) return request;
  dropped.note('cache_control');
  // In the order of the prompt: tools, the system's words, turns. Earlier ones are covered by later ones.
  const takes = (): boolean => {
    if (left === 0) return false;
    left -= 1;
    return true;
  };
  const unmarkedTools = request.tools?.map((tool) => (isMarked(tool) && (!tools || takes()) ? unmarked(tool) : tool));
  const messages = new Map<ChatMessage, ChatMessage>();
  const inPromptOrder = [...request.messages.filter(isSystem), ...request.messages.filter((one) => !isSystem(one))];
  for (const message of inPromptOrder)
    messages.set(
      message,
      mapMarked(message, (item) => (takes() ? unmarked(item) : item)),
    );
  return {
    ...request,
    ...(unmarkedTools === undefined ? {} : { tools: unmarkedTools }),
    messages: request.messages.map((message) => messages.get(message) ?? message),
  };
}

/** True if a hint requests prompt caching. */
function wantsCaching({ extra }: ChatRequest): boolean {
  return [...CACHE_HINTS].some((name) => typeof extra[name] === 'string') && extra.cache_control === undefined;
}

function withHintedMarks(request: ChatRequest, tools: boolean): ChatRequest {
  if (!wantsCaching(request)) return request;
  const isLong = request.extra.prompt_cache_retention === '24h';
  const mark: JsonValue = isLong ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' };
  const system = request.messages.findLast((message) => isSystem(message) && isMarkable(message));
  const turns = request.messages
    .filter((one) => !isSystem(one) && one.role !== 'assistant' && isMarkable(one))
    .slice(-2);
  const marked = new Set([system, ...turns]);
  const lastTool =
    system === undefined && tools ? request.tools?.findLastIndex(({ type }) => type === 'function') : undefined;
  return {
    ...request,
    ...(lastTool === undefined
      ? {}
      : {
          tools: request.tools?.map((tool, i) => (i === lastTool ? ({ ...tool, cacheControl: mark } as Tool) : tool)),
        }),
    messages: request.messages.map((message) => (marked.has(message) ? withMark(message, mark) : message)),
  };
}

/** Marks the last part. */
function withMark(message: ChatMessage, mark: JsonValue): ChatMessage {
  const at = message.content.findLastIndex(takesMark);
  const content = message.content.map((part, i) =>
    i === at ? ({ ...part, cacheControl: mark } as ContentPart) : part,
  );
  return { ...message, content };
}

const isSystem = ({ role }: ChatMessage): boolean => role === 'system' || role === 'developer';
const isMarkable = ({ content }: ChatMessage): boolean => content.some(takesMark);
const takesMark = (part: ContentPart): boolean =>
  part.type === 'text' ? part.text.trim() !== '' : part.type === 'image' || part.type === 'file';

function unmarked<T extends Markable>(item: T): T {
  const { cacheControl: _mark, ...rest } = item as T & { cacheControl?: JsonValue };
  return rest as unknown as T;
}

function mapMarked(message: ChatMessage, map: <T extends Markable>(item: T) => T): ChatMessage {
  const each = <T extends Markable>(items: readonly T[]) => items.map((item) => (isMarked(item) ? map(item) : item));
  const content = each(message.content);
  if (message.role !== 'assistant' || message.toolCalls === undefined) return { ...message, content };
  return { ...message, content, toolCalls: each(message.toolCalls) };
}
