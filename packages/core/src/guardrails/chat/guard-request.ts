import { type JsonObject, type JsonValue, present } from '../../chat/json';
import type { ChatMessage, ChatRequest, ContentPart, ReasoningPart, ToolCall } from '../../chat/request';
import { invalidRequest } from '../../errors/gateway-error';
import type { GuardrailPart } from '../policy';
import type { RequestGuard } from '../request-guard';
import { GuardedTexts } from './guard-texts';
import { mediaTypeIn, readPlainFile } from './unread-fields';

const PART_OF_ROLE = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool_results',
} as const satisfies Record<ChatMessage['role'], GuardrailPart>;

/** Request fields without text, or with judgement of their own. */
const APART: ReadonlySet<string> = new Set([
  'messages',
  'prompt',
  'tools',
  'responseFormat',
  'wire',
  'model',
  'digest',
]);
const MODEL: ReadonlySet<string> = new Set(['model']);

/**
 * Judges all forms of a request: messages, other fields and the caller's body with unknown fields. Returns the same
 * object if clean. Throws `guardrail_blocked`; `invalid_request` for token input and for spoken answers.
 */
export async function guardRequest(guard: RequestGuard, request: ChatRequest): Promise<ChatRequest> {
  if (wantsSound(request)) refuseUnread('modalities', 'sound in answers', guard.guardrails.enforcing('output'));
  if (!guard.guardrails.asksInput) return request;
  const texts = new GuardedTexts(guard, 'input');
  const messages = await mapAll(request.messages, (message) => guardMessage(texts, message));
  const prompt = request.prompt && (await guardPrompt(texts, request.prompt));
  const tools = await asIs(texts, request.tools, 'system');
  const responseFormat = await asIs(texts, request.responseFormat, 'system');
  const rest = await texts.fields(request as unknown as JsonObject, APART);
  const wire = request.wire && (await guardWire(texts, request.wire));
  const isSame =
    messages === request.messages &&
    prompt === request.prompt &&
    tools === request.tools &&
    responseFormat === request.responseFormat &&
    wire === request.wire &&
    (rest as unknown) === request;
  if (isSame) return request;
  const changed = { messages, ...(prompt && { prompt }), ...(tools && { tools }), ...(wire && { wire }) };
  return { ...request, ...(rest as unknown as ChatRequest), ...changed, ...(responseFormat && { responseFormat }) };
}

/** A rule could change the transcript of a spoken answer, and not its sound. */
const wantsSound = ({ extra }: ChatRequest): boolean =>
  extra !== undefined && (extra.audio != null || /"audio"/i.test(JSON.stringify(extra.modalities ?? null)));

const asIs = <T>(texts: GuardedTexts, value: T, part?: GuardrailPart): Promise<T> =>
  texts.value(value as JsonValue | undefined, part) as Promise<T>;

async function mapAll<T>(items: readonly T[], map: (item: T) => Promise<T>): Promise<readonly T[]> {
  const mapped: T[] = [];
  for (const item of items) mapped.push(await map(item));
  return mapped.some((item, index) => item !== items[index]) ? mapped : items;
}

async function guardWire<T extends NonNullable<ChatRequest['wire']>>(texts: GuardedTexts, wire: T): Promise<T> {
  const body = await texts.fields(wire.body, MODEL);
  const headers = await asIs(texts, wire.headers);
  return body === wire.body && headers === wire.headers ? wire : { ...wire, body, ...(headers && { headers }) };
}

async function guardPrompt<T extends NonNullable<ChatRequest['prompt']>>(texts: GuardedTexts, prompt: T): Promise<T> {
  const prompts = await mapAll(prompt.prompts, async (one) => {
    if (typeof one === 'string') return texts.text(one, 'user');
    throw invalidRequest('prompt', "The guardrails of this project can't read tokens: send the prompt as text.");
  });
  const suffix = prompt.suffix === undefined ? undefined : await texts.text(prompt.suffix, 'user');
  const chat = await asIs(texts, prompt.chat);
  const isSame = prompts === prompt.prompts && suffix === prompt.suffix && chat === prompt.chat;
  return isSame ? prompt : { ...prompt, prompts, chat, ...(suffix === undefined ? {} : { suffix }) };
}

async function guardMessage(texts: GuardedTexts, message: ChatMessage): Promise<ChatMessage> {
  const part = PART_OF_ROLE[message.role];
  const content = await guardContent(texts, message.content, part);
  const name = message.name === undefined ? undefined : await texts.text(message.name, part);
  const changed = content !== message.content || name !== message.name;
  const named = changed ? { ...message, content, ...(name === undefined ? {} : { name }) } : message;
  if (named.role === 'tool') {
    const toolCallId = await texts.id(named.toolCallId);
    return toolCallId === named.toolCallId ? named : { ...named, toolCallId };
  }
  return named.role === 'assistant' ? guardAssistant(texts, named) : named;
}

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;

async function guardAssistant(texts: GuardedTexts, message: AssistantMessage): Promise<AssistantMessage> {
  const toolCalls = message.toolCalls && (await mapAll(message.toolCalls, (call) => guardToolCall(texts, call)));
  const reasoning = message.reasoning && (await mapAll(message.reasoning, (one) => guardReasoning(texts, one)));
  const raw = await asIs(texts, message.raw, 'assistant');
  const isSame = toolCalls === message.toolCalls && reasoning === message.reasoning && raw === message.raw;
  if (isSame) return message;
  return { ...message, ...(toolCalls && { toolCalls }), ...(reasoning && { reasoning }), ...(raw && { raw }) };
}

async function guardToolCall(texts: GuardedTexts, call: ToolCall): Promise<ToolCall> {
  const given =
    call.custom === true
      ? await texts.text(call.arguments, 'tool_arguments')
      : await texts.json(call.arguments, 'tool_arguments');
  const id = await texts.id(call.id);
  const name = await texts.id(call.name);
  const signature = await guardSealed(texts, call.signature);
  const isSame = given === call.arguments && id === call.id && name === call.name && signature === call.signature;
  const changed = { id, name, arguments: given, ...(signature === undefined ? {} : { signature }) };
  return guardMark(texts, isSame ? call : { ...call, ...changed }, 'tool_arguments');
}

/** A cache mark is free text of the caller. */
async function guardMark<T extends { readonly cacheControl?: JsonValue }>(
  texts: GuardedTexts,
  marked: T,
  part: GuardrailPart,
): Promise<T> {
  if (marked.cacheControl === undefined) return marked;
  const cacheControl = await asIs(texts, marked.cacheControl, part);
  return cacheControl === marked.cacheControl ? marked : { ...marked, cacheControl };
}

async function guardReasoning(texts: GuardedTexts, reasoning: ReasoningPart): Promise<ReasoningPart> {
  const text = reasoning.text && (await texts.text(reasoning.text, 'assistant'));
  const signature = await guardSealed(texts, reasoning.signature);
  const data = await guardSealed(texts, reasoning.data);
  const format = reasoning.format && (await texts.text(reasoning.format, 'assistant'));
  const isText = text === reasoning.text && format === reasoning.format;
  if (isText && signature === reasoning.signature && data === reasoning.data) return reasoning;
  return present({ ...reasoning, text, signature, data, format }) as ReasoningPart;
}

const guardSealed = async (texts: GuardedTexts, sealed: string | undefined): Promise<string | undefined> =>
  sealed === undefined ? sealed : texts.sealed(sealed);

async function guardContent(
  texts: GuardedTexts,
  content: readonly ContentPart[],
  part: GuardrailPart,
): Promise<readonly ContentPart[]> {
  const given = content.flatMap((one) => (one.type === 'text' || one.type === 'refusal' ? [one.text] : []));
  const judged = await texts.texts(given, part);
  let index = 0;
  return mapAll(content, async (one): Promise<ContentPart> => {
    if (one.type === 'text' || one.type === 'refusal') {
      const text = judged[index++] ?? '';
      const said: ContentPart = text === one.text ? one : { ...one, text };
      return said.type === 'text' ? guardMark(texts, said, part) : said;
    }
    if (one.type === 'image' || one.type === 'audio') {
      refuseUnread('messages', UNREAD[one.type], texts.enforcingInput(part));
    }
    if (one.type === 'raw') refuseRaw(texts, one.value, part);
    return one.type === 'file' ? guardFile(texts, one, part) : asIs(texts, one, part);
  });
}

const UNREAD = { image: 'pictures', audio: 'audio' } as const;

/** What nobody can read can't be guarded. `rule`: the name of one that may refuse or change the input. */
export function refuseUnread(param: string, what: string, rule: string | undefined): void {
  if (rule === undefined) return;
  const message = `The guardrails of this project (such as "${rule}") can't read ${what}. Send text alone.`;
  throw invalidRequest(param, message);
}

function refuseRaw(texts: GuardedTexts, value: JsonObject, part: GuardrailPart): void {
  const rule = texts.enforcingInput(part);
  const type = rule === undefined ? undefined : mediaTypeIn(value);
  if (type !== undefined) refuseUnread('messages', `"${type}" parts`, rule);
}

type FilePart = Extract<ContentPart, { type: 'file' }>;

/** Judges a text file as part of its message; refuses any other one. */
async function guardFile(texts: GuardedTexts, file: FilePart, part: GuardrailPart): Promise<FilePart> {
  const read = readPlainFile(file.dataUrl);
  if (read === undefined) refuseUnread('messages', 'files other than text, such as PDF', texts.enforcingInput(part));
  else await texts.text(read.text, part);
  return asIs(texts, file, part);
}
