import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asNumber, asObject, asString } from '../translation/read-json';
import { instanceOf } from './schema-instance';

/** A word with its leading space, or a run of punctuation: the demo models' token. */
const TOKEN = /\s{0,20}(?:[\p{L}\p{N}_]{1,8}|[^\s\p{L}\p{N}_])|\s+/gu;
/** Characters of arguments in one piece. */
const ARGUMENT_PIECE_CHARACTERS = 12;
const QUOTED_CHARACTERS = 200;
/** Searched part of a prompt for a request to use a tool. */
const SEARCHED_CHARACTERS = 2_000;

export interface DemoToolCall {
  readonly index: number;
  readonly wire: { id: string; type: 'function'; function: { name: string; arguments: string } };
  readonly pieces: readonly string[];
}

/** Content of a demo answer, before encoding. */
export interface DemoAnswer {
  readonly id: string;
  readonly choices: number;
  readonly pieces: readonly string[];
  readonly toolCalls: readonly DemoToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly usage: JsonObject;
}

/** Deterministic: the same body gives the same answer on any machine. */
export function writeAnswer(body: JsonObject): DemoAnswer {
  const prompt = lastUserText(body.messages);
  const id = `chatcmpl-demo-${createHash('sha256')
    .update(JSON.stringify(body.messages ?? null))
    .digest('hex')
    .slice(0, 24)}`;
  const choices = Math.min(128, Math.max(1, asNumber(body.n) ?? 1));
  const promptTokens = countTokens(body.messages ?? null) + countTokens(body.tools ?? null);
  const call = chooseTool(body, prompt);
  if (call !== undefined) {
    const text = JSON.stringify(instanceOf(call.parameters, prompt));
    const wire = {
      id: `call_${id.slice(-16)}`,
      type: 'function' as const,
      function: { name: call.name, arguments: text },
    };
    const toolCalls: DemoToolCall[] = [{ index: 0, wire, pieces: cutEvery(text, ARGUMENT_PIECE_CHARACTERS) }];
    const usage = usageOf(promptTokens, choices * (tokenize(text).length + tokenize(call.name).length));
    return { id, choices, pieces: [], toolCalls, finishReason: 'tool_calls', usage };
  }
  const all = tokenize(writeText(body, prompt));
  const limit = asNumber(body.max_completion_tokens) ?? asNumber(body.max_tokens) ?? Number.POSITIVE_INFINITY;
  const pieces = all.slice(0, Math.max(0, limit));
  const usage = usageOf(promptTokens, choices * pieces.length);
  return { id, choices, pieces, toolCalls: [], finishReason: pieces.length < all.length ? 'length' : 'stop', usage };
}

function usageOf(prompt: number, completion: number): JsonObject {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

function tokenize(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

/** Tokens of all strings in a value, plus a little for each object around them. */
function countTokens(value: JsonValue): number {
  if (typeof value === 'string') return value.startsWith('data:') ? 256 : tokenize(value).length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countTokens(item), 0);
  const object = asObject(value);
  if (object === undefined) return 0;
  return Object.values(object).reduce<number>((sum, item) => sum + countTokens(item), 1);
}

function cutEvery(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));
}

function lastUserText(messages: JsonValue | undefined): string {
  const list = Array.isArray(messages) ? messages.map(asObject) : [];
  const last = list.findLast((message) => message?.role === 'user');
  const content = last?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => asString(asObject(part)?.text) ?? '').join(' ');
}

interface ChosenTool {
  readonly name: string;
  readonly parameters: JsonObject;
}

/** Makes a call if required, or if the prompt contains words of a tool's name. */
function chooseTool(body: JsonObject, prompt: string): ChosenTool | undefined {
  const tools = (Array.isArray(body.tools) ? body.tools : []).flatMap((item) => {
    const definition = asObject(asObject(item)?.function);
    const name = asString(definition?.name);
    return name === undefined ? [] : [{ name, parameters: asObject(definition?.parameters) ?? {} }];
  });
  if (tools.length === 0 || body.tool_choice === 'none') return undefined;
  const named = asString(asObject(asObject(body.tool_choice)?.function)?.name);
  if (named !== undefined) return tools.find((tool) => tool.name === named) ?? tools[0];
  const asked = answersTool(body.messages) ? undefined : tools.find((tool) => mentions(prompt, tool.name));
  return asked ?? (body.tool_choice === 'required' ? tools[0] : undefined);
}

/** After a tool's result the model speaks, or a client that feeds results back would loop for ever. */
function answersTool(messages: JsonValue | undefined): boolean {
  const role = Array.isArray(messages) ? asObject(messages.at(-1))?.role : undefined;
  return role === 'tool' || role === 'function';
}

function mentions(prompt: string, toolName: string): boolean {
  const text = prompt.slice(0, SEARCHED_CHARACTERS).toLowerCase();
  if (text.includes(toolName.toLowerCase()) || /\b(?:use|call)\b.*\btools?\b/.test(text)) return true;
  const words = toolName.split(/[^a-zA-Z]+|(?=[A-Z])/).filter((word) => word.length > 3);
  return words.some((word) => text.includes(word.toLowerCase()));
}

function writeText(body: JsonObject, prompt: string): string {
  const format = asObject(body.response_format);
  if (format?.type === 'json_schema') {
    return JSON.stringify(instanceOf(asObject(asObject(format.json_schema)?.schema) ?? {}, prompt));
  }
  const quoted = prompt.slice(0, QUOTED_CHARACTERS);
  if (format?.type === 'json_object') return JSON.stringify({ answer: quoted, model: 'demo' });
  const result = answersTool(body.messages) ? ' The tool has answered, thank you.' : '';
  const words = quoted.trim() === '' ? 'nothing I can read' : `“${quoted.trim()}”`;
  return (
    `This is the built-in demo model. You said: ${words}.${result} My answers are made from your words alone, ` +
    'so the same question always gets the same answer, and every token of it is counted and priced.'
  );
}
