import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { type AnswerBody, asObjects, parseAnswer } from '../../translation/read-json';
import type { PayloadDecoder, PayloadText } from '../../transport/payload-stream-decoder';
import { decodeBody } from '../decode-response';
import { ChatStream } from '../decode-stream';

/** A whole plain answer. Some servers answer as chat does: both are taken. */
export function decodeCompletion(provider: string, bytes: AnswerBody): EventBatch {
  const body = parseAnswer(provider, bytes);
  return { events: decodeBody(provider, withChoices(body, 'message')).events };
}

/** The chunks of one streamed answer. */
export class CompletionStream implements PayloadDecoder {
  private readonly chat: ChatStream;

  constructor(provider: string) {
    this.chat = new ChatStream(provider);
  }

  get done(): boolean {
    return this.chat.done;
  }

  decode(chunk: JsonObject, events: ChatEvent[], text: PayloadText): void {
    this.chat.decode(withChoices(chunk, 'delta'), events, text);
  }

  decodeEnd(events: ChatEvent[]): string {
    this.chat.decodeEnd(events);
    return '';
  }

  finish(): boolean {
    return this.chat.finish();
  }
}

/** Text where chat has it. */
export function withChoices(body: JsonObject, place: 'message' | 'delta'): JsonObject {
  if (!Array.isArray(body.choices)) return body;
  const choices = asObjects(body.choices).map(({ text, reasoning, reasoning_content: thoughts, ...rest }) =>
    typeof text === 'string' ? { ...rest, [place]: { content: text, reasoning: reasoning ?? thoughts ?? null } } : rest,
  );
  return { ...body, choices };
}
