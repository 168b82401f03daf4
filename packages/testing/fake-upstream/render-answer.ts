import type { FakeBehaviour } from './behaviour';
import type { FakeFormat, RenderContext } from './fake-format';
import { anthropicFormat } from './render-anthropic';
import { bedrockFormat } from './render-bedrock';
import { cohereFormat } from './render-cohere';
import { completionsFormat } from './render-completions';
import { geminiFormat } from './render-gemini';
import { openaiFormat } from './render-openai';
import { responsesFormat } from './render-responses';

/** The APIs that the fake vendor speaks, each under its vendor's own path. */
export const FAKE_FORMATS = {
  'openai-chat': openaiFormat,
  'openai-responses': responsesFormat,
  'openai-completions': completionsFormat,
  'anthropic-messages': anthropicFormat,
  'gemini-content': geminiFormat,
  'bedrock-converse': bedrockFormat,
  'cohere-chat': cohereFormat,
} as const satisfies Record<string, FakeFormat>;

export type FakeFormatName = keyof typeof FAKE_FORMATS;

export interface AnswerContext extends RenderContext {
  readonly format: FakeFormatName;
}

const encoder = new TextEncoder();

/** The whole plain answer. */
export function renderPlain(behaviour: FakeBehaviour, context: AnswerContext): string {
  return JSON.stringify(FAKE_FORMATS[context.format].plain(behaviour, context));
}

/** The streamed answer, one piece of bytes for each write. */
export function renderStream(behaviour: FakeBehaviour, context: AnswerContext): Uint8Array[] {
  const format: FakeFormat = FAKE_FORMATS[context.format];
  const pieces = format
    .events(behaviour, context)
    .map((event) => (typeof event === 'string' ? encoder.encode(withFraming(event, behaviour)) : event));
  if (behaviour.byteByByte === true) return [...Buffer.concat(pieces)].map((byte) => new Uint8Array([byte]));
  return behaviour.splitCharacters === true ? splitInsideCharacters(pieces) : pieces;
}

/** How the streams of a format are labelled. */
export function streamHeaders(context: AnswerContext): Record<string, string> {
  const format: FakeFormat = FAKE_FORMATS[context.format];
  return { 'content-type': format.streamType ?? 'text/event-stream; charset=utf-8' };
}

/** The bytes of an error within a stream. */
export function renderStreamError(context: AnswerContext): Uint8Array {
  const { errorEvent }: FakeFormat = FAKE_FORMATS[context.format];
  return typeof errorEvent === 'string' ? encoder.encode(errorEvent) : errorEvent;
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
