import type { JsonObject } from '@llm0/core/chat/json';
import { asObject } from '../../translation/read-json';

/** Source: https://platform.openai.com/docs/api-reference/responses */
export const WIRE_FORMAT = 'openai-responses';
/** Separator between a summary's parts in one text. */
export const BETWEEN_PARTS = '\n\n';

/** Fields of an answer that echo the request or that our types hold. */
export const TOLD_ELSEWHERE: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'error', 'incomplete_details', 'model', 'usage'],
  ...['background', 'instructions', 'max_output_tokens', 'max_tool_calls', 'metadata', 'parallel_tool_calls'],
  ...['previous_response_id', 'prompt_cache_key', 'prompt_cache_retention', 'reasoning', 'safety_identifier', 'store'],
  ...['temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'user', 'billing'],
]);

/** Items by which the model asks its caller to do something. */
const CALLER_ITEMS: ReadonlySet<unknown> = new Set([
  ...['computer_call', 'local_shell_call', 'shell_call', 'apply_patch_call', 'mcp_approval_request'],
  ...['function_call', 'custom_tool_call'],
]);

export function waitsForCaller({ type }: JsonObject): boolean {
  return CALLER_ITEMS.has(type);
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'annotations', 'logprobs']);
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['id', 'type', 'status', 'role', 'content']);
const CALL_FIELDS: ReadonlySet<string> = new Set([
  ...['id', 'type', 'status', 'call_id', 'name', 'arguments', 'input'],
]);

/** True where our own types hold all of the items: at most one message of one plain text, then calls. */
export function isPlainOutput(items: readonly JsonObject[]): boolean {
  return items.every((item, i) => {
    if (item.type === 'message') return i === 0 && hasOnly(item, MESSAGE_FIELDS) && isPlainContent(item.content);
    return (item.type === 'function_call' || item.type === 'custom_tool_call') && hasOnly(item, CALL_FIELDS);
  });
}

const THOUGHT_FIELDS: ReadonlySet<string> = new Set([
  ...['id', 'type', 'status', 'summary', 'content', 'encrypted_content'],
]);
const isThought = (item: JsonObject): boolean => item.type === 'reasoning' && hasOnly(item, THOUGHT_FIELDS);

/** The same for items at a stream's start, reasoning included: its items accompany our events. */
export const isPlainStream = (items: readonly JsonObject[]): boolean =>
  isPlainOutput(items.filter((item) => !isThought(item)));

function isPlainContent(content: JsonObject[string] | undefined): boolean {
  if (!Array.isArray(content) || content.length > 1) return false;
  return content.every((part) => {
    const value = asObject(part);
    if (value?.type === 'refusal') return true;
    return (
      value?.type === 'output_text' &&
      hasOnly(value, TEXT_FIELDS) &&
      isEmpty(value.annotations) &&
      isEmpty(value.logprobs)
    );
  });
}

const isEmpty = (value: JsonObject[string] | undefined): boolean =>
  value == null || (Array.isArray(value) && value.length === 0);

function hasOnly(value: JsonObject, known: ReadonlySet<string>): boolean {
  for (const name in value) if (!known.has(name) && value[name] != null) return false;
  return true;
}
