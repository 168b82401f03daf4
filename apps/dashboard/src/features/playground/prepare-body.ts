import type { Picture, Turn, Turns } from './conversation';
import { isEmptyTurn } from './conversation';
import type { Draft, Settings } from './draft';

type Json = Record<string, unknown>;

/** An invalid field and the reason. */
export interface Problem {
  readonly field: keyof Settings | 'turns' | 'models';
  readonly message: string;
}

export interface Prepared {
  /** Without the model: each of them gets its own. */
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;
  readonly problems: readonly Problem[];
}

const NUMBERS = [
  ['temperature', 0, 2, false],
  ['top_p', 0, 1, false],
  ['max_tokens', 1, 10_000_000, true],
  ['seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, true],
  ['frequency_penalty', -2, 2, false],
  ['presence_penalty', -2, 2, false],
] as const;

type Note = (field: Problem['field'], message: string) => void;

/** Chat Completions body of a draft. */
export function prepareBody({
  models,
  system,
  turns,
  settings,
}: Omit<Draft, 'sendAs' | 'projectId' | 'keyId'>): Prepared {
  const problems: Problem[] = [];
  const note: Note = (field, message) => problems.push({ field, message });
  const spoken = turns.filter((turn) => !isEmptyTurn(turn) || turn.role === 'tool');
  const last = turns.at(-1);
  const isUnsaid = last?.role === 'user' && isEmptyTurn(last) && spoken.at(-1)?.role === 'assistant';
  if (spoken.length === 0 || isUnsaid) note('turns', 'Enter a message first.');
  // Only the first field has an example: another would ask the same model again.
  const empty = models.findIndex((model, index) => index > 0 && model.trim() === '');
  if (empty > 0) note('models', `Choose model ${empty + 1}, or remove it.`);
  const first = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  const body: Json = { messages: [...first, ...spoken.map(toMessage)] };
  for (const [field, min, max, isWhole] of NUMBERS) {
    const value = readNumber(settings[field], min, max, isWhole);
    if (typeof value === 'string') note(field, value);
    else if (value !== null) body[field] = value;
  }
  const stop = settings.stop.split('\n').filter((line) => line !== '');
  if (stop.length > 0) body.stop = stop.length === 1 ? stop[0] : stop;
  if (settings.reasoning_effort !== '') body.reasoning_effort = settings.reasoning_effort;
  addFormat(body, settings, note);
  addTools(body, settings, note);
  if (settings.stream) Object.assign(body, { stream: true, stream_options: { include_usage: true } });
  Object.assign(body, readOther(settings.other, note));
  const headers = {
    ...(settings.cache === '' ? {} : { 'X-LLM0-Cache': settings.cache }),
    ...(settings.customer.trim() === '' ? {} : { 'X-Customer-Id': settings.customer.trim() }),
  };
  return { body, headers, problems };
}

/** Turns that no model would take, before they are sent: a call that was not answered. */
export function openCalls(turns: Turns): readonly string[] {
  const answered = new Set(turns.flatMap(({ answers }) => (answers === null ? [] : [answers.id])));
  return turns.flatMap(({ toolCalls }) => toolCalls.filter(({ id }) => !answered.has(id)).map(({ name }) => name));
}

function toMessage({ role, text, pictures, toolCalls, answers }: Turn): Json {
  if (role === 'tool') return { role, tool_call_id: answers?.id ?? '', content: text };
  if (role === 'assistant' && toolCalls.length > 0) {
    const calls = toolCalls.map(({ id, name, arguments: given }) => ({
      ...{ id, type: 'function', function: { name, arguments: given } },
    }));
    return { role, content: text === '' ? null : text, tool_calls: calls };
  }
  if (pictures.length === 0) return { role, content: text };
  const said = text === '' ? [] : [{ type: 'text', text }];
  return { role, content: [...said, ...pictures.map(toPart)] };
}

const toPart = ({ url }: Picture) => ({ type: 'image_url', image_url: { url } });

/** A number, null if empty, or an error. */
function readNumber(typed: string, min: number, max: number, isWhole: boolean): number | string | null {
  const text = typed.trim();
  if (text === '') return null;
  const value = Number(text);
  if (!Number.isFinite(value)) return 'Enter a number, with a point for decimals.';
  if (isWhole && !Number.isSafeInteger(value)) return 'Enter a whole number.';
  return value < min || value > max ? `Must be from ${min} to ${max}.` : value;
}

function addFormat(body: Json, { format, schema }: Settings, note: Note): void {
  if (format === 'json_object') body.response_format = { type: format };
  if (format !== 'json_schema') return;
  const read = readJson(schema);
  if (!isObject(read.value)) {
    note('schema', read.problem ?? 'A JSON schema must be an object.');
    return;
  }
  // Accepts the bare schema or one with its name, as on vendors' pages.
  const named = isObject(read.value.schema) ? read.value : { name: 'answer', schema: read.value, strict: true };
  body.response_format = { type: format, json_schema: named };
}

/** The schema that answers must fit; null where none is asked for, or it is not there yet. */
export function schemaOf({ format, schema }: Pick<Settings, 'format' | 'schema'>): Json | null {
  const { value } = format === 'json_schema' ? readJson(schema) : { value: null };
  if (!isObject(value)) return null;
  return isObject(value.schema) ? value.schema : value;
}

function addTools(body: Json, { tools, tool_choice: choice }: Settings, note: Note): void {
  if (tools.trim() === '') return;
  const { value, problem } = readJson(tools);
  const list = (Array.isArray(value) ? value : [value]) as unknown[];
  const wrong = problem ?? list.map(checkTool).find((found) => found !== null);
  if (wrong !== undefined) {
    note('tools', wrong);
    return;
  }
  body.tools = list.map((tool) =>
    isObject(tool) && tool.type === undefined ? { type: 'function', function: tool } : tool,
  );
  if (choice === '') return;
  const isMode = ['auto', 'none', 'required'].includes(choice);
  body.tool_choice = isMode ? choice : { type: 'function', function: { name: choice } };
}

const TOOL_NAME = /^[\w.-]{1,128}$/;

function checkTool(tool: unknown, index: number): string | null {
  const at = `Tool ${index + 1}`;
  if (!isObject(tool)) return `${at} is not an object.`;
  if (tool.type !== undefined && tool.type !== 'function') return null;
  const fn = tool.type === undefined ? tool : tool.function;
  if (!isObject(fn)) return `${at} has no "function".`;
  if (typeof fn.name !== 'string' || !TOOL_NAME.test(fn.name)) {
    return `${at} needs a "name" of letters, digits, "_", "-" and ".".`;
  }
  if (fn.parameters !== undefined && !isObject(fn.parameters))
    return `"parameters" of ${fn.name} is not a JSON schema.`;
  return null;
}

/** Names of the callable tools; empty while unreadable. */
export function toolNames(tools: string): readonly string[] {
  const { value } = readJson(tools.trim() === '' ? '[]' : tools);
  const list = (Array.isArray(value) ? value : [value]) as unknown[];
  return list.flatMap((tool) => {
    const fn = isObject(tool) && isObject(tool.function) ? tool.function : tool;
    return isObject(fn) && typeof fn.name === 'string' ? [fn.name] : [];
  });
}

/** Fields as typed; none while unreadable. */
export function readOther(other: string, note: Note = () => {}): Json {
  if (other.trim() === '') return {};
  const { value, problem } = readJson(other);
  if (isObject(value)) return value;
  note('other', problem ?? 'Enter a JSON object, such as {"top_k": 40}.');
  return {};
}

export function readJson(text: string): { readonly value: unknown; readonly problem?: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (cause) {
    return { value: undefined, problem: `This is not JSON: ${cause instanceof Error ? cause.message : 'unreadable'}` };
  }
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
