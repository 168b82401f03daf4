import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { completionTokens, promptTokens, type Usage } from '@llm0/core/chat/usage';
import {
  type SpeechAnswer,
  type SpeechRequest,
  TRANSCRIPT_FORMATS,
  type TranscriptAnswer,
  type TranscriptFormat,
  type TranscriptionRequest,
} from '@llm0/core/tasks/audio';
import { readAudio } from '@llm0/core/tasks/audio-duration';
import { type SentFile, sizeOf } from '@llm0/core/tasks/task-request';
import type { EncodedBytes, TaskBody, TaskDialect, TaskSummary } from '../dialect';
import { encodeError } from '../openai-chat/encode-error';
import { invalid, mustBe, readString, shown } from '../read-fields';
import { encodeFacts, readCommon } from './task-fields';

const KNOWN_OF_FORM: ReadonlySet<string> = new Set(['file', 'prompt', 'response_format', 'stream']);

const transcripts = (
  name: 'openai-transcriptions' | 'openai-translations',
): TaskDialect<TranscriptionRequest, TranscriptAnswer> => ({
  ...{ name, body: 'audio', encodeError, encodeResponse, encodeBytes },
  decodeRequest: (body) => decodeForm(body, name === 'openai-translations'),
  encodeEvents: ({ text }, { usage }): JsonObject[] => [
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text, ...usageOf(usage) },
  ],
});

/** `POST /v1/audio/transcriptions`. Source: https://platform.openai.com/docs/api-reference/audio/createTranscription */
export const openaiTranscriptions = transcripts('openai-transcriptions');
/** `POST /v1/audio/translations`. Source: https://platform.openai.com/docs/api-reference/audio/createTranslation */
export const openaiTranslations = transcripts('openai-translations');

function decodeForm({ fields, files }: TaskBody, translates: boolean): TranscriptionRequest {
  const common = readCommon(fields, KNOWN_OF_FORM);
  const file = files[0]?.[1];
  if (file === undefined) throw invalid('file', '"file" must be a file of audio.');
  const format = readString(fields, 'response_format') ?? 'json';
  if (!isFormat(format)) throw invalid('response_format', `"response_format" must be ${FORMATS}.`);
  const { stream = 'false' } = fields;
  if (stream !== 'true' && stream !== 'false') throw invalid('stream', '"stream" must be true or false.');
  return {
    ...{ ...common, file, ...readFile(file), translates, format },
    ...{ prompt: readString(fields, 'prompt'), stream: stream === 'true' && !translates },
  };
}

const FORMATS = TRANSCRIPT_FORMATS.join(', ');
const isFormat = (format: string): format is TranscriptFormat => TRANSCRIPT_FORMATS.some((one) => one === format);

/** A vendor would refuse other files too, after all of it was sent. */
function readFile(file: SentFile): Pick<TranscriptionRequest, 'facts' | 'size'> {
  const size = sizeOf(file);
  const facts = readAudio(Buffer.concat(file.pieces), size);
  if (facts !== undefined) return { facts, size };
  const what = size === 0 ? 'it is empty' : 'it begins as none of them';
  throw invalid('file', `"file" must be FLAC, MP3, MP4, M4A, Ogg, WAV or WebM audio, but ${what}.`);
}

function encodeResponse({ format, ...answer }: TranscriptAnswer, summary: TaskSummary): JsonObject {
  const { text, ...facts } = answer;
  const isShort = format === 'json' || format === 'text';
  return { text, ...(isShort ? {} : facts), ...usageOf(summary.usage), ...encodeFacts(summary) };
}

/** As the vendor tells it: tokens, else seconds. */
function usageOf(usage: Usage): { usage?: JsonValue } {
  const { units, inputTokens, inputAudioTokens } = usage;
  const [input, output] = [promptTokens(usage), completionTokens(usage)];
  if (input + output === 0)
    return units?.seconds === undefined ? {} : { usage: { type: 'duration', seconds: units.seconds } };
  return {
    usage: {
      ...{ type: 'tokens', input_tokens: input, output_tokens: output, total_tokens: input + output },
      input_token_details: { audio_tokens: inputAudioTokens, text_tokens: inputTokens },
    },
  };
}

/** Subtitles are made here, so that every answer has its usage. */
function encodeBytes({ format, text, segments }: TranscriptAnswer): EncodedBytes | undefined {
  if (format === 'text') return { type: 'text/plain; charset=utf-8', body: `${text}\n` };
  if (format !== 'srt' && format !== 'vtt') return undefined;
  const lines = (Array.isArray(segments) ? segments : []).flatMap((segment) => (isObject(segment) ? [segment] : []));
  const cues = lines.map(({ start, end, text: said }, index) => {
    const time = [start, end].map((seconds) => timeOf(Number(seconds ?? 0), format)).join(' --> ');
    return `${format === 'srt' ? `${index + 1}\n` : ''}${time}\n${String(said ?? '').trim()}\n\n`;
  });
  const type = format === 'srt' ? 'application/x-subrip; charset=utf-8' : 'text/vtt; charset=utf-8';
  return { type, body: `${format === 'vtt' ? 'WEBVTT\n\n' : ''}${cues.join('')}` };
}

/** `00:01:02,345`, with a point in WebVTT. */
function timeOf(seconds: number, format: 'srt' | 'vtt'): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const clock = `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}`;
  return `${clock}${format === 'srt' ? ',' : '.'}${String(ms % 1000).padStart(3, '0')}`;
}

const KNOWN: ReadonlySet<string> = new Set(['input', 'voice', 'instructions', 'response_format', 'stream_format']);
const MAX_CHARACTERS = 4096;

/** `POST /v1/audio/speech`. Source: https://platform.openai.com/docs/api-reference/audio/createSpeech */
export const openaiSpeech: TaskDialect<SpeechRequest, SpeechAnswer> = {
  ...{ name: 'openai-speech', body: 'json', encodeError },
  decodeRequest: ({ fields }) => decodeSpeech(fields),
  encodeResponse: (_answer, summary) => encodeFacts(summary),
  encodeBytes: ({ audio, type }) => ({ type, body: Buffer.from(audio, 'base64') }),
};

function decodeSpeech(fields: JsonObject): SpeechRequest {
  const input = readString(fields, 'input');
  if (input === undefined || input === '') throw invalid('input', '"input" must be the text to say.');
  if (input.length > MAX_CHARACTERS && [...input].length > MAX_CHARACTERS) {
    throw invalid('input', `"input" may have at most ${MAX_CHARACTERS} characters.`);
  }
  const { voice, stream_format: delivery = 'audio' } = fields;
  if (typeof voice !== 'string' && !isObject(voice)) throw mustBe('voice', 'a string or an object', voice);
  if (delivery !== 'audio' && delivery !== 'sse') {
    throw invalid('stream_format', `"stream_format" must be audio or sse, but is ${shown(delivery)}.`);
  }
  return {
    ...{ ...readCommon(fields, KNOWN), input, voice, instructions: readString(fields, 'instructions') },
    // Speech passes as it comes, in bytes or events.
    ...{ stream: true, wantsEvents: delivery === 'sse', format: readString(fields, 'response_format') },
  };
}
