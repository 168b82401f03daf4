import { formatBytes } from '../../format/format-number';

/** Stored JSON, unvalidated. */
type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

export type Part =
  | { readonly kind: 'text' | 'thinking' | 'refusal'; readonly text: string }
  /** `url` only for embedded content: the page loads nothing from elsewhere. */
  | { readonly kind: 'image' | 'audio'; readonly url: string | null; readonly note: string }
  | { readonly kind: 'call'; readonly name: string; readonly id: string | null; readonly text: string }
  | { readonly kind: 'result'; readonly id: string | null; readonly text: string }
  /** Default look. */
  | { readonly kind: 'other'; readonly name: string; readonly text: string };

export interface Turn {
  readonly role: string;
  readonly parts: readonly Part[];
}

export interface Conversation {
  readonly turns: readonly Turn[];
  /** Tools that the model could call. */
  readonly tools: readonly { readonly name: string; readonly description: string | null; readonly text: string }[];
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: Json): readonly Json[] => (Array.isArray(value) ? value : []);
const objects = (value: Json): readonly JsonObject[] => listOf(value).filter(isObject);
const textOf = (value: Json): string | null => (typeof value === 'string' ? value : null);
const pretty = (value: Json): string => JSON.stringify(value, null, 2) ?? '';

/** A request and its answer as one conversation, for any API; null if unreadable. */
export function prepareConversation(request: Json, answer: Json): Conversation | null {
  const asked = isObject(request) ? turnsOfRequest(request) : [];
  const answered = isObject(answer) ? turnsOfAnswer(answer) : [];
  const turns = [...asked, ...answered].filter(({ parts }) => parts.length > 0);
  if (turns.length === 0) return null;
  return { turns, tools: isObject(request) ? objects(request.tools).flatMap(toolsOf) : [] };
}

/** A truncated body has only the beginning of its text. */
export const truncatedText = (body: Json): { readonly text: string; readonly characters: number } | null =>
  isObject(body) && body.truncated === true && typeof body.text === 'string'
    ? { text: body.text, characters: Number(body.characters) }
    : null;

function turnsOfRequest(request: JsonObject): readonly Turn[] {
  const system = request.system ?? request.instructions ?? request.systemInstruction ?? request.system_instruction;
  const first = system === undefined ? [] : [{ role: 'system', parts: partsOf(contentOf(system)) }];
  return [...first, ...turnsOfInput(request)];
}

function turnsOfInput(request: JsonObject): readonly Turn[] {
  const { messages, contents, input, prompt } = request;
  if (Array.isArray(messages)) return objects(messages).map(turnOf);
  if (Array.isArray(contents)) return objects(contents).map(turnOf);
  if (Array.isArray(input) && input.some(isObject)) return objects(input).map(turnOf);
  const said = [input, prompt].flatMap((text) =>
    [text].flat().flatMap((one) => (typeof one === 'string' ? [userSaid(one)] : [])),
  );
  const files = objects([request.file, ...listOf(request.pictures), request.mask]);
  return files.length === 0 ? said : [...said, { role: 'user', parts: files.map(mediaOf) }];
}

const userSaid = (text: string): Turn => ({ role: 'user', parts: [{ kind: 'text', text }] });

function turnsOfAnswer(answer: JsonObject): readonly Turn[] {
  if (isObject(answer.error)) return [{ role: 'error', parts: [{ kind: 'text', text: String(answer.error.message) }] }];
  const choices = objects(answer.choices).map((choice) =>
    isObject(choice.message) ? turnOf({ role: 'assistant', ...choice.message }) : said(partsOf(choice.text)),
  );
  const candidates = objects(answer.candidates).map(({ content }) => turnOf(isObject(content) ? content : {}));
  const output = objects(answer.output).map((item) => turnOf({ role: 'assistant', ...item }));
  const content = Array.isArray(answer.content) ? [said(partsOf(answer.content))] : [];
  const pictures = objects(answer.data).flatMap(({ b64_json: data }) =>
    typeof data === 'string'
      ? [said([imageOf({ data, mimeType: `image/${textOf(answer.output_format) ?? 'png'}` })])]
      : isObject(data)
        ? [said([mediaOf({ type: 'image', ...data })])]
        : [],
  );
  const spoken = isObject(answer.audio) ? [said([mediaOf(answer.audio)])] : [];
  // A transcript has its text alone.
  const heard = Object.keys(answer).every((name) => name !== 'choices') && textOf(answer.text);
  const made = [...pictures, ...spoken, ...(heard ? [said(partsOf(heard))] : [])];
  return [...choices, ...candidates, ...output, ...content, ...made];
}

const said = (parts: readonly Part[]): Turn => ({ role: 'assistant', parts });

/** A message of any API; an item of Responses may be a call or its result. */
function turnOf(message: JsonObject): Turn {
  const role = textOf(message.role) ?? (message.type === 'function_call_output' ? 'tool' : 'assistant');
  const thinking = textOf(message.reasoning_content) ?? textOf(message.reasoning);
  const own = message.type === undefined || message.type === 'message' ? [] : partsOf([message]);
  const parts = [
    ...(thinking === null || thinking === '' ? [] : [{ kind: 'thinking', text: thinking } as const]),
    ...(role === 'tool' && own.length === 0
      ? [resultOf(message.tool_call_id, message.content)]
      : own.length > 0
        ? own
        : partsOf(contentOf(message))),
    ...(textOf(message.refusal) ? [{ kind: 'refusal', text: String(message.refusal) } as const] : []),
    ...objects(message.tool_calls).map(callOf),
    ...(isObject(message.audio) ? [audioOf(message.audio)] : []),
  ];
  return { role: role === 'model' ? 'assistant' : role, parts };
}

const contentOf = (message: Json): Json =>
  isObject(message) ? (message.content ?? message.parts ?? message.text) : message;

function callOf(call: JsonObject): Part {
  const called = isObject(call.function) ? call.function : call;
  const given = called.arguments ?? called.input ?? called.args;
  const id = textOf(call.id) ?? textOf(call.call_id);
  return { kind: 'call', name: textOf(called.name) ?? 'tool', id, text: prettyText(given) };
}

/** JSON in a text is laid out; other text stays. */
function prettyText(value: Json): string {
  if (typeof value !== 'string') return pretty(value);
  try {
    return pretty(JSON.parse(value));
  } catch {
    return value;
  }
}

const resultOf = (id: Json, content: Json): Part => {
  const texts =
    typeof content === 'string' ? [content] : partsOf(content).map((part) => ('text' in part ? part.text : ''));
  const text = texts.join('\n') || pretty(content);
  return { kind: 'result', id: textOf(id), text: prettyText(text) };
};

function partsOf(content: Json): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return listOf(content).flatMap((part): readonly Part[] => {
    if (typeof part === 'string') return [{ kind: 'text', text: part }];
    return isObject(part) ? [partOf(part)] : [];
  });
}

type Reader = (part: JsonObject) => Part;
const calls: Reader = (part) => callOf(part);
const pictures: Reader = (part) => imageOf(part.image_url ?? part.source ?? part);

/** By type of the part; for Gemini, by its only field. */
const READERS: Readonly<Record<string, Reader>> = {
  ...{ tool_use: calls, function_call: calls, server_tool_use: calls },
  ...{ image_url: pictures, image: pictures, input_image: pictures },
  functionCall: (part) => callOf(isObject(part.functionCall) ? part.functionCall : {}),
  tool_result: (part) => resultOf(part.tool_use_id, part.content),
  function_call_output: (part) => resultOf(part.call_id, part.output),
  functionResponse: (part) => {
    const answered = isObject(part.functionResponse) ? part.functionResponse : {};
    return resultOf(answered.id ?? answered.name, answered.response);
  },
  thinking: (part) => ({ kind: 'thinking', text: textOf(part.thinking) ?? '' }),
  reasoning: (part) => ({
    kind: 'thinking',
    text: objects(part.summary)
      .map(({ text }) => text)
      .join('\n'),
  }),
  refusal: (part) => ({ kind: 'refusal', text: textOf(part.refusal) ?? '' }),
  inlineData: (part) => imageOf(part.inlineData),
  input_audio: (part) => audioOf(part.input_audio),
};

function partOf(part: JsonObject): Part {
  const type = textOf(part.type) ?? Object.keys(part).find((name) => Object.hasOwn(READERS, name)) ?? '';
  const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (read !== undefined) return read(part);
  if (typeof part.text === 'string') return { kind: part.thought === true ? 'thinking' : 'text', text: part.text };
  return { kind: 'other', name: type || 'part', text: pretty(part) };
}

const SHOWN_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;

function imageOf(source: Json): Part {
  const { url, data, media_type: media, mimeType, type } = isObject(source) ? source : { url: source };
  const address = textOf(url) ?? (textOf(data) === null ? null : `data:${media ?? mimeType};base64,${data}`);
  if (address !== null && SHOWN_IMAGE.test(address)) return { kind: 'image', url: address, note: 'Image' };
  const note = address === null || address.startsWith('data:') ? `Image (${type ?? 'not kept whole'})` : address;
  return { kind: 'image', url: null, note };
}

const SHOWN_AUDIO = /^(?:mp3|wav|flac|opus|aac|ogg|mpeg)$/;
const BASE64 = /^[A-Za-z0-9+/=]+$/;

/** As chat sends and answers it: bytes and the name of their format. */
function audioOf(source: Json): Part {
  const { data, format } = isObject(source) ? source : {};
  const name = textOf(format) ?? 'mpeg';
  const isWhole = typeof data === 'string' && BASE64.test(data) && SHOWN_AUDIO.test(name);
  return { kind: 'audio', url: isWhole ? `data:audio/${name};base64,${data}` : null, note: 'not kept whole' };
}

const PLAYABLE = /^audio\/(?:mpeg|mp3|wav|x-wav|wave|flac|ogg|opus|aac|mp4|m4a|x-m4a|webm)$/;

/** As the log keeps sent files and sound: type, size and, where that is small, bytes. */
function mediaOf({ type, bytes, data }: JsonObject): Part {
  const name = textOf(type) ?? '';
  if (name.startsWith('image') && typeof data === 'string') return imageOf({ data, mimeType: name });
  const kind = name.startsWith('image') ? 'image' : 'audio';
  const size = formatBytes(Number(bytes ?? 0));
  if (typeof data !== 'string') return { kind, url: null, note: `${size}, more than the log keeps` };
  const isPlayable = BASE64.test(data) && PLAYABLE.test(name);
  if (isPlayable) return { kind, url: `data:${name};base64,${data}`, note: size };
  return { kind, url: null, note: `${size}, which browsers don't play (${name})` };
}

function toolsOf(tool: JsonObject): Conversation['tools'] {
  const nested = objects(tool.functionDeclarations ?? tool.function_declarations);
  if (nested.length > 0) return nested.flatMap(toolsOf);
  const named = isObject(tool.function) ? tool.function : tool;
  const name = textOf(named.name) ?? textOf(tool.type) ?? 'tool';
  return [
    { name, description: textOf(named.description), text: pretty(named.parameters ?? named.input_schema ?? named) },
  ];
}
