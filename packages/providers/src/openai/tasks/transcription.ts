import { isObject, type JsonObject, type JsonValue, present } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { TranscriptAnswer, TranscriptionRequest } from '@llm0/core/tasks/audio';
import type { EncodeContext, EndpointRequest } from '../../provider-request';
import type { TaskPart } from '../../tasks';
import { type FormField, formBody } from '../../translation/form-body';
import { asCount, asNumber, asObject, asString } from '../../translation/read-json';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { upstreamFailure } from '../../transport/upstream-failure';
import { endpointOf } from '../endpoint';
import { createEventReader } from './event-reader';

/** Differences between servers that write down speech in this format. */
export interface TranscriptionQuirks {
  /** False: only detailed answers tell how long the audio is. */
  readonly tellsUsage: boolean;
  readonly streams: boolean;
  /** Least seconds that are billed. */
  readonly leastSeconds?: number;
}

export const OPENAI_TRANSCRIPTION: TranscriptionQuirks = { tellsUsage: true, streams: true };

/** Source: https://platform.openai.com/docs/api-reference/audio/createTranscription */
export function createTranscription(
  provider: string,
  quirks: TranscriptionQuirks,
): TaskPart<TranscriptionRequest, TranscriptAnswer> {
  const { leastSeconds } = quirks;
  const part: TaskPart<TranscriptionRequest, TranscriptAnswer> = {
    ...(leastSeconds === undefined ? {} : { leastSeconds }),
    encodeRequest: (request, context) => encodeTranscription(request, context, quirks),
    decodeResponse: (body, { format }) => {
      const text = asString(body.text);
      if (text === undefined) throw upstreamFailure('malformed', provider, 'answered without a text.');
      const { usage: told, ...facts } = body;
      return { answer: { ...facts, text, format }, usage: readUsage(told, body.duration, quirks) };
    },
  };
  if (!quirks.streams) return part;
  return {
    ...part,
    createStreamReader: () => {
      const usageOf = ({ usage }: JsonObject) => readUsage(usage, undefined, quirks);
      return createEventReader({ provider, last: 'transcript.text.done', usageOf });
    },
  };
}

const TIMED: ReadonlySet<string> = new Set(['srt', 'vtt', 'verbose_json']);

/**
 * Formats without usage are made here, from one that has it. Models that are billed by token tell their tokens, and
 * know no other one.
 */
function formatOf({ format, stream }: TranscriptionRequest, { tellsUsage, streams }: TranscriptionQuirks): string {
  if (format === 'diarized_json') return format;
  // A server without streams answers in whole, and the gateway makes the events.
  const isStreamed = stream && streams;
  return TIMED.has(format) || (!tellsUsage && !isStreamed) ? 'verbose_json' : 'json';
}

function encodeTranscription(
  request: TranscriptionRequest,
  context: EncodeContext,
  quirks: TranscriptionQuirks,
): EndpointRequest {
  const { extra, prompt, stream, user, translates, file } = request;
  const dropped = new DroppedParameters(context);
  const tellsUsage = quirks.tellsUsage || context.priced?.prices.input_audio !== undefined;
  const fields = present({
    ...extra,
    ...{ model: context.model, prompt, user, response_format: formatOf(request, { ...quirks, tellsUsage }) },
    stream: stream && quirks.streams ? true : undefined,
  });
  const texts = Object.entries(fields).flatMap(([name, value]): FormField[] =>
    Array.isArray(value) ? value.map((one) => [`${name}[]`, asText(one)]) : [[name, asText(value)]],
  );
  // The file comes last: the rest of a large one follows while it is sent.
  const { contentType, body, length } = formBody([...texts, ['file', file]]);
  const endpoint = endpointOf(context.connection, translates ? 'audio/translations' : 'audio/transcriptions');
  const counted: Record<string, string> = length === undefined ? {} : { 'content-length': String(length) };
  const headers = { ...endpoint.headers, 'content-type': contentType, ...counted };
  return { ...endpoint, headers, body, dropped: dropped.names() };
}

const asText = (value: JsonValue | undefined) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Usage of a piece of speech that was written down. */
export const readHeardUsage = (told: JsonValue | undefined): Usage | undefined =>
  readUsage(told, undefined, OPENAI_TRANSCRIPTION);

/** Tokens or seconds, as the vendor bills; undefined for neither. */
function readUsage(
  told: JsonValue | undefined,
  duration: JsonValue | undefined,
  { leastSeconds = 0 }: TranscriptionQuirks,
): Usage | undefined {
  if (isObject(told) && told.type !== 'duration' && told.input_tokens !== undefined) {
    const input = asCount(told.input_tokens);
    const text = asCount(asObject(told.input_token_details)?.text_tokens);
    const inputTokens = Math.min(input, text);
    const output = told.output_tokens === undefined ? { untold: 'output' as const } : {};
    const counts = { inputTokens, inputAudioTokens: input - inputTokens, outputTokens: asCount(told.output_tokens) };
    return { ...ZERO_USAGE, ...counts, ...output };
  }
  const seconds = asNumber(asObject(told)?.seconds) ?? asNumber(duration) ?? secondsIn(duration);
  return seconds === undefined || !(seconds >= 0)
    ? undefined
    : { ...ZERO_USAGE, units: { seconds: Math.max(leastSeconds, seconds) } };
}

/** Some versions tell it as text. */
const secondsIn = (duration: JsonValue | undefined) =>
  typeof duration === 'string' && /^\d{1,9}(\.\d{1,9})?$/.test(duration) ? Number(duration) : undefined;
