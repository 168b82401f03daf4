import type { Log } from '../../api/logs';
import { newTurn, type Picture, type ToolCall, type Turn } from './conversation';
import { type Draft, NO_SETTINGS, newDraft, type Settings } from './draft';
import { isObject } from './prepare-body';

type Json = Record<string, unknown>;

/** Draft for a repeated request, with the parts that couldn't be restored. */
export interface Rerun {
  readonly draft: Draft;
  readonly missing: readonly string[];
}

/** `body`: the stored one; null without one, for the reason `why`. */
export function prepareRerun(
  log: Pick<Log, 'project_id' | 'api_key_id' | 'requested_model' | 'dialect' | 'stream' | 'customer_id' | 'labels'>,
  body: unknown,
  why: string,
): Rerun {
  const blank = newDraft();
  const settings = { ...NO_SETTINGS, stream: log.stream, customer: log.customer_id ?? '' };
  const draft: Draft = {
    ...{ ...blank, projectId: log.project_id, keyId: log.api_key_id, models: [log.requested_model] },
    ...{ turns: [newTurn('user')], settings },
  };
  const missing: string[] = [];
  if (log.labels !== null) missing.push(`Labels are not sent again: ${Object.keys(log.labels).join(', ')}.`);
  if (!isObject(body)) return { draft, missing: [`The prompt is missing. ${why}`, ...missing] };
  if (body.truncated === true) {
    return { draft, missing: ['The prompt is missing: it was too long to be stored in full.', ...missing] };
  }
  const isOwn = log.dialect === 'openai-chat';
  if (!isOwn) {
    missing.unshift(
      `It was sent in another format (${log.dialect}): only its messages were loaded, without tools, images and settings.`,
    );
  }
  const messages = (Array.isArray(body.messages) ? body.messages : []).filter(isObject);
  const isSystem = ({ role }: Json) => role === 'system' || role === 'developer';
  const system = [body.system, ...messages.filter(isSystem).map(({ content }) => content)].map(textOf);
  const turns = toTurns(messages.filter((message) => !isSystem(message)));
  return {
    draft: {
      ...draft,
      system: system.filter((text) => text !== '').join('\n\n'),
      turns: turns.length === 0 ? draft.turns : turns,
      settings: { ...settings, ...(isOwn ? readSettings(body) : {}) },
    },
    missing,
  };
}

function toTurns(messages: readonly Json[]): readonly Turn[] {
  const calls = new Map<unknown, ToolCall>();
  return messages.map((message): Turn => {
    const text = textOf(message.content);
    if (message.role === 'tool') {
      const unknown = { id: String(message.tool_call_id ?? ''), name: 'tool', arguments: '' };
      return newTurn('tool', { text, answers: calls.get(message.tool_call_id) ?? unknown });
    }
    if (message.role !== 'assistant') return newTurn('user', { text, pictures: picturesOf(message.content) });
    const toolCalls = (Array.isArray(message.tool_calls) ? message.tool_calls : []).filter(isObject).map(readCall);
    for (const call of toolCalls) calls.set(call.id, call);
    return newTurn('assistant', { text, toolCalls });
  });
}

function readCall({ id, function: fn }: Json): ToolCall {
  const { name, arguments: given } = isObject(fn) ? fn : {};
  return { id: String(id ?? ''), name: String(name ?? ''), arguments: String(given ?? '') };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : [])).join('\n');
}

function picturesOf(content: unknown): readonly Picture[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part, index): Picture[] => {
    const image = isObject(part) ? part.image_url : undefined;
    const url = isObject(image) ? image.url : image;
    return typeof url === 'string' ? [{ url, name: `image ${index + 1}`, bytes: bytesOf(url) }] : [];
  });
}

const BASE64 = ';base64,';

/** Size of a picture in a data URL; null for a remote picture. */
export function bytesOf(url: string): number | null {
  const at = url.startsWith('data:') ? url.indexOf(BASE64) : -1;
  return at < 0 ? null : Math.floor(((url.length - at - BASE64.length) * 3) / 4);
}

const TYPED = ['temperature', 'top_p', 'seed', 'frequency_penalty', 'presence_penalty', 'reasoning_effort'] as const;
/** Fields that this page reads or doesn't need. */
const READ = new Set<string>([
  ...TYPED,
  ...['model', 'messages', 'system', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens'],
  ...['stop', 'tools', 'tool_choice', 'response_format'],
]);

function readSettings(body: Json): Partial<Settings> {
  const typed = TYPED.filter((name) => body[name] !== undefined && body[name] !== null);
  const most = body.max_tokens ?? body.max_completion_tokens;
  const other = Object.fromEntries(Object.entries(body).filter(([name]) => !READ.has(name)));
  const stops = Array.isArray(body.stop) ? body.stop : [body.stop];
  const format = isObject(body.response_format) ? body.response_format : {};
  const choice =
    isObject(body.tool_choice) && isObject(body.tool_choice.function)
      ? body.tool_choice.function.name
      : body.tool_choice;
  return {
    ...Object.fromEntries(typed.map((name) => [name, String(body[name])])),
    ...(most === undefined || most === null ? {} : { max_tokens: String(most) }),
    stop: stops.filter((stop) => typeof stop === 'string').join('\n'),
    ...(format.type === 'json_object' ? { format: 'json_object' as const } : {}),
    ...(format.type === 'json_schema' ? { format: 'json_schema' as const, schema: pretty(format.json_schema) } : {}),
    ...(Array.isArray(body.tools) ? { tools: pretty(body.tools) } : {}),
    ...(typeof choice === 'string' ? { tool_choice: choice } : {}),
    ...(Object.keys(other).length === 0 ? {} : { other: pretty(other) }),
  };
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
