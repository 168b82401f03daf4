import { isObject, type JsonObject, type JsonValue, present } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { SpeechAnswer, SpeechRequest } from '@llm0/core/tasks/audio';
import type { EncodeContext, EndpointRequest } from '../../provider-request';
import type { TaskPart, TaskStreamReader } from '../../tasks';
import { jsonBody } from '../../translation/json-body';
import { asCount, asString } from '../../translation/read-json';
import { upstreamFailure } from '../../transport/upstream-failure';
import { endpointOf } from '../endpoint';
import { createEventReader } from './event-reader';

export interface SpeechQuirks {
  /** Has events, which alone tell the tokens. */
  readonly hasEvents: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  ...{ mp3: 'audio/mpeg', opus: 'audio/ogg', aac: 'audio/aac', flac: 'audio/flac', wav: 'audio/wav', pcm: 'audio/pcm' },
};
export const speechType = (format = 'mp3'): string => TYPES[format] ?? 'application/octet-stream';
const DONE = 'speech.audio.done';

/** Source: https://platform.openai.com/docs/api-reference/audio/createSpeech */
export function createSpeech(provider: string, { hasEvents }: SpeechQuirks): TaskPart<SpeechRequest, SpeechAnswer> {
  return {
    sendsBytes: true,
    encodeRequest: (request, context) => encodeSpeech(request, context, hasEvents),
    // Bytes are no JSON.
    decodeResponse: () => {
      throw upstreamFailure('malformed', provider, 'answered without audio.');
    },
    createStreamReader(request, type) {
      if (!isEvents(type)) return createBytesReader(provider, request, type);
      const unwrapped = request.wantsEvents ? undefined : { type: speechType(request.format), bytesOf: audioIn };
      return createEventReader({ provider, last: DONE, usageOf, ...(unwrapped === undefined ? {} : { unwrapped }) });
    },
    decodeBytes(bytes, type, request) {
      if (!isEvents(type)) {
        createBytesReader(provider, request, type).push(bytes);
        return { answer: { audio: Buffer.from(bytes).toString('base64'), type: speechType(request.format) } };
      }
      const unwrapped = { type: speechType(request.format), bytesOf: audioIn };
      const reader = createEventReader({ provider, last: DONE, usageOf, unwrapped });
      const audio = Buffer.from(reader.push(bytes) ?? []).toString('base64');
      if (!reader.isComplete) throw upstreamFailure('truncated', provider, 'ended its speech before it was complete.');
      return { answer: { audio, type: unwrapped.type }, usage: reader.usage };
    },
  };
}

const isEvents = (type: string) => type.startsWith('text/event-stream');

/** Events where they tell the tokens that are billed, or the caller wants them. */
function encodeSpeech(request: SpeechRequest, context: EncodeContext, hasEvents: boolean): EndpointRequest {
  const { extra, input, voice, instructions, format, user, wantsEvents } = request;
  const isByToken = context.priced?.prices.output_audio !== undefined;
  const fields = present({
    ...extra,
    ...{ model: context.model, input, voice, instructions, response_format: format, user },
    stream_format: hasEvents && (wantsEvents || isByToken) ? 'sse' : undefined,
  });
  return {
    ...endpointOf(context.connection, 'audio/speech'),
    body: jsonBody(fields as JsonObject, false),
    dropped: [],
  };
}

const audioIn = ({ audio }: JsonObject) => (typeof audio === 'string' ? Buffer.from(audio, 'base64') : undefined);

function usageOf({ usage }: JsonObject): Usage | undefined {
  if (!isObject(usage) || usage.input_tokens === undefined) return undefined;
  const output = usage.output_tokens === undefined ? { untold: 'output' as const } : {};
  const counts = { inputTokens: asCount(usage.input_tokens), outputAudioTokens: asCount(usage.output_tokens) };
  return { ...ZERO_USAGE, ...counts, ...output };
}

/** Bytes that pass unread: what is billed are the characters. */
function createBytesReader(provider: string, { input }: SpeechRequest, type: string): TaskStreamReader {
  let isBegun = false;
  if (isJson(type)) throw upstreamFailure('malformed', provider, 'answered without audio.');
  return {
    type,
    push(bytes) {
      isBegun ||= bytes.byteLength > 0;
    },
    get isBegun() {
      return isBegun;
    },
    get isComplete() {
      return isBegun;
    },
    isAll: false,
    usage: { ...ZERO_USAGE, units: { characters: [...input].length } },
  };
}

const isJson = (type: JsonValue): boolean => asString(type)?.startsWith('application/json') === true;
