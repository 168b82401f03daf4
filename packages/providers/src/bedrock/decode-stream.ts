import { parseJson } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { StreamDecoder } from '../provider';
import { asObject, asString } from '../translation/read-json';
import { type EventStreamFrame, EventStreamFrames } from '../transport/event-stream-frames';
import {
  type PayloadSink,
  type PayloadSource,
  PayloadStreamDecoder,
  type PayloadText,
} from '../transport/payload-stream-decoder';
import { ConverseDecoder } from './decode-chunk';
import { exceptionName } from './decode-error';
import { PROVIDER } from './wire';

/** Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html */
export function createStreamDecoder(request: ChatRequest): StreamDecoder {
  return new PayloadStreamDecoder(PROVIDER, new ConverseDecoder(request), new FrameSource());
}

/** Read as JSON it fails, and so ends the answer where the damage is. */
const DAMAGED: PayloadText = { data: 'damaged' };

/** Messages of the binary stream as JSON that is named by the kind of event. */
class FrameSource implements PayloadSource {
  private readonly frames = new EventStreamFrames();

  feed(chunk: Uint8Array, payloads: PayloadSink): void {
    for (const frame of this.frames.push(chunk)) payloads.take(frame === null ? DAMAGED : { data: toJson(frame) });
  }

  /** Half a message only means that the connection was cut. */
  flush(): readonly PayloadText[] {
    return [];
  }
}

function toJson({ header, payload }: EventStreamFrame): string {
  const text = new TextDecoder().decode(payload);
  const type = header(':message-type');
  if (type === 'exception') return errorJson(header(':exception-type'), messageOf(text));
  if (type === 'error') return errorJson(header(':error-code'), header(':error-message'));
  return `{${JSON.stringify(header(':event-type') ?? 'unknown')}:${text === '' ? '{}' : text}}`;
}

function errorJson(name = '', message = ''): string {
  return JSON.stringify({ error: { type: exceptionName(name), message } });
}

function messageOf(body: string): string {
  const parsed = parseJson(body);
  if (parsed === undefined) return body;
  const { message, Message } = asObject(parsed) ?? {};
  return asString(message ?? Message) ?? '';
}
