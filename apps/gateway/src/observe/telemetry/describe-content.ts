import { isObject, type JsonObject, type JsonValue, parseJson } from '@llm0/core/chat/json';

/** One part of a message, as the conventions have it. Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-input-messages.json */
type Part = { readonly type: string } & JsonObject;

interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

/** Characters of one attribute: more is cut, the earliest messages first. */
const MAX_CHARACTERS = 32 * 1024;
const MAX_TEXT = 8 * 1024;

/** `gen_ai.input.messages` of a stored body in any dialect; undefined without content. */
export function inputMessages(body: string | null): string | undefined {
  return write(body, (value) => [
    ...systemOf(value.system ?? value.instructions),
    ...(Array.isArray(value.messages) ? value.messages.flatMap(messageOf) : []),
    ...inputOf(value.input ?? value.prompt),
  ]);
}

/** `gen_ai.output.messages` of a stored answer. */
export function outputMessages(body: string | null): string | undefined {
  return write(body, (value) => {
    if (Array.isArray(value.choices)) return value.choices.flatMap(choiceOf);
    const items = value.output ?? value.content;
    return typeof items === 'string' || Array.isArray(items) ? [assistant(itemsOf(items), reasonOf(value))] : [];
  });
}

/** Any JSON as one attribute: arguments and results of tools. */
export function jsonText(body: string | null): string | undefined {
  if (body === null) return undefined;
  return body.length <= MAX_CHARACTERS ? body : body.slice(0, MAX_CHARACTERS).toWellFormed();
}

function write(body: string | null, read: (value: JsonObject) => readonly Message[]): string | undefined {
  if (body === null) return undefined;
  const value = JSON.parse(body) as JsonValue;
  if (!isObject(value)) return undefined;
  const isCut = value.truncated === true && typeof value.text === 'string';
  const messages = isCut ? [{ role: 'user', parts: [text(String(value.text))] }] : read(value);
  return messages.length === 0 ? undefined : bounded(messages);
}

/** The newest messages that there is room for. */
function bounded(messages: readonly Message[]): string {
  const kept: string[] = [];
  let left = MAX_CHARACTERS;
  for (const message of [...messages].reverse()) {
    const written = JSON.stringify(message);
    if (written.length > left && kept.length > 0) break;
    kept.unshift(written.length > left ? JSON.stringify({ ...message, parts: message.parts.slice(0, 1) }) : written);
    left -= written.length + 1;
  }
  return `[${kept.join(',')}]`;
}

const text = (content: string): Part => ({ type: 'text', content: content.slice(0, MAX_TEXT).toWellFormed() });
const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');

const systemOf = (system: JsonValue | undefined): readonly Message[] =>
  system === undefined || system === null ? [] : [{ role: 'system', parts: itemsOf(system) }];

function inputOf(input: JsonValue | undefined): readonly Message[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [text(input)] }];
  if (!Array.isArray(input)) return [];
  return input.flatMap((item) =>
    isObject(item) && item.role !== undefined ? messageOf(item) : [{ role: roleOf(item), parts: itemsOf([item]) }],
  );
}

const roleOf = (item: JsonValue): string => {
  if (!isObject(item)) return 'user';
  return String(item.type).endsWith('_output') ? 'tool' : 'assistant';
};

function messageOf(message: JsonValue): readonly Message[] {
  if (!isObject(message)) return [];
  const { role, content, tool_calls: calls, tool_call_id: id } = message;
  const said = content === undefined || content === null ? [] : itemsOf(content);
  const parts = role === 'tool' ? [result(id, content)] : said;
  return [{ role: String(role ?? 'user'), parts: [...parts, ...callsOf(calls)] }];
}

function choiceOf(choice: JsonValue): readonly Message[] {
  if (!isObject(choice)) return [];
  const { message, text: plain, finish_reason: reason } = choice;
  const parts = isObject(message) ? (messageOf(message)[0]?.parts ?? []) : itemsOf(plain ?? '');
  return [assistant(parts, reason)];
}

const assistant = (parts: readonly Part[], reason: JsonValue | undefined): Message => ({
  ...{ role: 'assistant', parts },
  ...(typeof reason === 'string' ? { finish_reason: finishReason(reason, parts) } : {}),
});

/** Finish reason in the answer's format. */
function reasonOf({ stop_reason: reason, status, incomplete_details: details }: JsonObject): JsonValue | undefined {
  if (reason !== undefined && reason !== null) return reason;
  return status === 'incomplete' && isObject(details) ? (details.reason ?? status) : status;
}

/** Finish reasons in the conventions' terms; their schema allows others. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  ...{ end_turn: 'stop', stop_sequence: 'stop', completed: 'stop' },
  ...{ max_tokens: 'length', max_output_tokens: 'length', model_context_window_exceeded: 'length' },
  ...{ tool_calls: 'tool_call', function_call: 'tool_call', tool_use: 'tool_call' },
  ...{ refusal: 'content_filter', failed: 'error', cancelled: 'error' },
};

function finishReason(reason: string, parts: readonly Part[]): string {
  // Responses also use `completed` for answers that wait for a tool.
  if (reason === 'completed' && parts.some(({ type }) => type === 'tool_call')) return 'tool_call';
  return Object.hasOwn(FINISH_REASONS, reason) ? (FINISH_REASONS[reason] ?? reason) : reason;
}

const callsOf = (calls: JsonValue | undefined): readonly Part[] =>
  Array.isArray(calls) ? calls.flatMap((call) => (isObject(call) ? [callOf(call)] : [])) : [];

function callOf(call: JsonObject): Part {
  const named = isObject(call.function) ? call.function : call;
  const id = call.call_id ?? call.id ?? null;
  return { type: 'tool_call', id, name: named.name ?? '', arguments: argumentsOf(named.arguments ?? named.input) };
}

/** Parsed arguments; text if truncated or invalid. */
function argumentsOf(value: JsonValue | undefined): JsonValue {
  const written = textOf(value);
  if (written.length > MAX_TEXT) return cut(written);
  return typeof value === 'string' ? (parseJson(value) ?? cut(value)) : (value ?? null);
}

const result = (id: JsonValue | undefined, content: JsonValue | undefined): Part => ({
  ...{ type: 'tool_call_response', id: id ?? null },
  response: cut(content),
});

const cut = (value: JsonValue | undefined): string => textOf(value).slice(0, MAX_TEXT).toWellFormed();

/** Parts of any dialect; media appear by kind only. */
function itemsOf(content: JsonValue): readonly Part[] {
  if (typeof content === 'string') return [text(content)];
  if (!Array.isArray(content)) return [];
  return content.flatMap((item): readonly Part[] => {
    if (typeof item === 'string') return [text(item)];
    if (!isObject(item)) return [];
    if (typeof item.text === 'string') return [text(item.text)];
    const read = ITEMS[String(item.type)];
    return read === undefined ? [{ type: String(item.type ?? 'unknown').slice(0, 64) }] : read(item);
  });
}

const ITEMS: Readonly<Record<string, (item: JsonObject) => readonly Part[]>> = {
  tool_use: (item) => [callOf(item)],
  function_call: (item) => [callOf(item)],
  tool_result: ({ tool_use_id: id, content }) => [result(id, content)],
  function_call_output: ({ call_id: id, output }) => [result(id, output)],
  message: ({ content }) => (content === undefined || content === null ? [] : itemsOf(content)),
};
