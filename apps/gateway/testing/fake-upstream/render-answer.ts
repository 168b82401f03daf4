import type { JsonObject } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';

export interface RenderContext {
  readonly model: string;
  readonly includeUsage: boolean;
}

const CREATED = 1_760_000_000;
const DEFAULT_PROMPT_TOKENS = 10;
const DEFAULT_CHUNKS = 20;
const encoder = new TextEncoder();

/** The whole plain answer. */
export function renderPlain(behaviour: FakeBehaviour, context: RenderContext): string {
  const calls = behaviour.toolCalls?.map((call, index) => ({ id: callId(index), type: 'function', function: call }));
  const message = calls === undefined ? { content: fullText(behaviour) } : { content: null, tool_calls: calls };
  const answer: JsonObject = {
    ...head(context, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, ...message } as JsonObject,
        logprobs: null,
        finish_reason: finishReason(behaviour),
      },
    ],
  };
  if (behaviour.usage !== null) answer.usage = renderUsage(behaviour);
  return JSON.stringify(answer);
}

/** The streamed answer, one piece of bytes for each write. */
export function renderStream(behaviour: FakeBehaviour, context: RenderContext): Uint8Array[] {
  const events = streamEvents(behaviour, context).map((event) => withFraming(event, behaviour));
  if (behaviour.byteByByte === true) {
    return [...encoder.encode(events.join(''))].map((byte) => new Uint8Array([byte]));
  }
  const pieces = events.map((event) => encoder.encode(event));
  return behaviour.splitCharacters === true ? splitInsideCharacters(pieces) : pieces;
}

function head(context: RenderContext, object: string): JsonObject {
  return { id: 'chatcmpl-fake', object, created: CREATED, model: context.model, system_fingerprint: 'fp_fake' };
}

function callId(index: number): string {
  return `call_fake_${index}`;
}

function finishReason(behaviour: FakeBehaviour): string {
  return behaviour.finishReason ?? (behaviour.toolCalls === undefined ? 'stop' : 'tool_calls');
}

function chunkCount(behaviour: FakeBehaviour): number {
  return behaviour.chunks ?? DEFAULT_CHUNKS;
}

function fullText(behaviour: FakeBehaviour): string {
  return behaviour.text ?? 'word '.repeat(chunkCount(behaviour)).trimEnd();
}

/** The text in as many pieces as chunks are asked for. */
function textPieces(behaviour: FakeBehaviour): string[] {
  const characters = [...fullText(behaviour)];
  const count = Math.max(1, Math.min(chunkCount(behaviour), characters.length));
  const size = Math.ceil(characters.length / count);
  return Array.from({ length: count }, (_, i) => characters.slice(i * size, (i + 1) * size).join('')).filter(
    (piece) => piece !== '',
  );
}

function renderUsage(behaviour: FakeBehaviour): JsonObject {
  const prompt = behaviour.usage?.prompt ?? DEFAULT_PROMPT_TOKENS;
  const completion = behaviour.usage?.completion ?? chunkCount(behaviour);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: behaviour.usage?.cached ?? 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: behaviour.usage?.reasoning ?? 0, audio_tokens: 0 },
  };
}

function streamEvents(behaviour: FakeBehaviour, context: RenderContext): string[] {
  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    ...head(context, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  const deltas = contentDeltas(behaviour).map((delta) => chunk(delta));
  const role = chunk({ role: 'assistant', content: behaviour.toolCalls === undefined ? '' : null });
  const last = chunk({}, finishReason(behaviour));
  const usage = context.includeUsage && behaviour.usage !== null ? renderUsage(behaviour) : undefined;
  if (usage !== undefined && behaviour.usageOn === 'finish-chunk') last.usage = usage;
  const chunks = [role, ...deltas, last];
  if (usage !== undefined && behaviour.usageOn !== 'finish-chunk') {
    chunks.push({ ...head(context, 'chat.completion.chunk'), choices: [], usage });
  }
  const events = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`);
  return behaviour.noDone === true ? events : [...events, 'data: [DONE]\n\n'];
}

function contentDeltas(behaviour: FakeBehaviour): JsonObject[] {
  if (behaviour.toolCalls === undefined) return textPieces(behaviour).map((content) => ({ content }));
  return behaviour.toolCalls.flatMap((call, index) => {
    const half = Math.ceil(call.arguments.length / 2);
    const piece = (text: string): JsonObject => ({ tool_calls: [{ index, function: { arguments: text } }] });
    const first = { index, id: callId(index), type: 'function', function: { name: call.name, arguments: '' } };
    return [{ tool_calls: [first] }, piece(call.arguments.slice(0, half)), piece(call.arguments.slice(half))];
  });
}

const LINE_ENDS = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

function withFraming(event: string, behaviour: FakeBehaviour): string {
  const commented = behaviour.comments === true ? `: keep-alive\n\n${event}` : event;
  const end = LINE_ENDS[behaviour.lineEnd ?? 'lf'];
  return end === '\n' ? commented : commented.replaceAll('\n', end);
}

/** Moves each cut so that it falls inside a character of several bytes, where there is one. */
function splitInsideCharacters(pieces: readonly Uint8Array[]): Uint8Array[] {
  return pieces.flatMap((piece) => {
    const inside = piece.findIndex((byte) => byte >= 0x80 && byte < 0xc0);
    return inside === -1 ? [piece] : [piece.slice(0, inside), piece.slice(inside)];
  });
}
