import type { JsonObject } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { CallerFact, VendorFact } from '@llm0/core/realtime/session-facts';
import type { RealtimeReader } from '../../realtime';
import { asObject, asString } from '../../translation/read-json';
import { readHeardUsage } from '../tasks/transcription';
import { parseEvent, peekType } from './peek-type';
import { limitOf, readSettings } from './read-settings';
import { readTurnUsage } from './usage';

/** The default format, 16-bit samples at 24 kHz, in characters of base64. */
const USUAL_RATE = 64_000;
/** Tokens of a second of speech. Source: https://platform.openai.com/docs/guides/realtime-costs */
const TOKENS_A_SECOND = { input: 10, output: 20 };
const BYTES_A_TOKEN = 3;
/** No price book bounds a picture here. */
const PICTURE_TOKENS = 40_000;

const AUDIO_DELTAS: ReadonlySet<string> = new Set(['response.output_audio.delta', 'response.audio.delta']);

/** Reads the events of a session, parsing only those that the bill depends on. */
export class SessionReader implements RealtimeReader {
  private rates = { input: USUAL_RATE, output: USUAL_RATE };
  private sent = { audio: 0, text: 0, pictures: 0 };
  private received = { audio: 0, deltas: 0 };
  /** Characters of speech that nobody has written down yet. */
  private unheard = 0;

  readCaller(frame: string): CallerFact | undefined {
    const type = peekType(frame) ?? asString(parseEvent(frame).type) ?? '';
    if (type === 'input_audio_buffer.append') {
      this.sent.audio += frame.length;
      this.unheard += frame.length;
      return undefined;
    }
    return CALLER_EVENTS[type]?.(this, frame);
  }

  readVendor(frame: string): VendorFact | undefined {
    const type = peekType(frame) ?? asString(parseEvent(frame).type) ?? '';
    const read = VENDOR_EVENTS[type];
    if (read !== undefined) return read(this, parseEvent(frame));
    if (AUDIO_DELTAS.has(type)) this.received.audio += frame.length;
    else if (type.endsWith('.delta')) this.received.deltas += 1;
    return undefined;
  }

  takeInput(): Usage {
    const { audio, text, pictures } = this.sent;
    this.sent = { audio: 0, text: 0, pictures: 0 };
    return {
      ...ZERO_USAGE,
      inputTokens: Math.ceil(text / BYTES_A_TOKEN),
      inputAudioTokens: Math.ceil((audio / this.rates.input) * TOKENS_A_SECOND.input),
      ...(pictures === 0 ? {} : { inputImageTokens: pictures * PICTURE_TOKENS }),
    };
  }

  takeOutput(): Usage {
    const { audio, deltas } = this.received;
    this.received = { audio: 0, deltas: 0 };
    const outputAudioTokens = Math.ceil((audio / this.rates.output) * TOKENS_A_SECOND.output);
    return { ...ZERO_USAGE, outputTokens: deltas, outputAudioTokens };
  }

  takeSeconds(): number {
    const seconds = this.unheard / this.rates.input;
    this.unheard = 0;
    return seconds;
  }

  /** Text that the next answer reads. */
  addText(frame: string): void {
    this.sent.text += frame.length;
  }

  addItem(frame: string): void {
    if (frame.includes('"input_image"')) this.sent.pictures += 1;
    else if (frame.includes('"input_audio"')) this.sent.audio += frame.length;
    else this.addText(frame);
  }

  settings(session: JsonObject) {
    const { rates, ...settings } = readSettings(session);
    this.rates = { input: rates.input ?? this.rates.input, output: rates.output ?? this.rates.output };
    return { type: 'settings', settings } as const;
  }

  forgetSpeech(): void {
    this.unheard = 0;
  }
}

const configure = (reader: SessionReader, frame: string): CallerFact => {
  reader.addText(frame);
  return reader.settings(asObject(parseEvent(frame).session) ?? {});
};

const CALLER_EVENTS: Readonly<Record<string, (reader: SessionReader, frame: string) => CallerFact | undefined>> = {
  'session.update': configure,
  'transcription_session.update': configure,
  'input_audio_buffer.clear': (reader) => {
    reader.forgetSpeech();
    return undefined;
  },
  'conversation.item.create': (reader, frame) => {
    reader.addItem(frame);
    return undefined;
  },
  'response.create': (reader, frame) => {
    reader.addItem(frame);
    const event = parseEvent(frame);
    const { max_output_tokens: limit, max_response_output_tokens: older } = asObject(event.response) ?? {};
    return { type: 'ask', eventId: asString(event.event_id), outputTokens: limitOf(limit ?? older) ?? undefined };
  },
};

type ReadVendor = (reader: SessionReader, event: JsonObject) => VendorFact | undefined;

const words: ReadVendor = (_reader, { item_id: id }) => ({ type: 'words', itemId: asString(id) ?? '' });

const configured: ReadVendor = (reader, { session }) => reader.settings(asObject(session) ?? {});

const VENDOR_EVENTS: Readonly<Record<string, ReadVendor>> = {
  'session.created': configured,
  'session.updated': configured,
  'transcription_session.created': configured,
  'transcription_session.updated': configured,
  'response.created': (_reader, { response }) => ({ type: 'began', turnId: asString(asObject(response)?.id) ?? '' }),
  'response.done': (_reader, event) => {
    const response = asObject(event.response) ?? {};
    const { id, status, usage } = response;
    const details = asObject(asObject(response.status_details)?.error);
    const failure = status === 'failed' ? { failure: asString(details?.message) ?? 'The answer failed.' } : {};
    return { type: 'ended', turnId: asString(id) ?? '', usage: readTurnUsage(usage), ...failure };
  },
  'input_audio_buffer.committed': (_reader, { item_id: id }) => ({ type: 'hearing', itemId: asString(id) ?? '' }),
  'conversation.item.input_audio_transcription.delta': words,
  'conversation.item.input_audio_transcription.segment': words,
  'conversation.item.input_audio_transcription.completed': (_reader, { item_id: id, usage }) => ({
    ...{ type: 'heard', itemId: asString(id) ?? '', usage: readHeardUsage(usage) },
  }),
  'conversation.item.input_audio_transcription.failed': (_reader, { item_id: id, error }) => ({
    ...{ type: 'heard', itemId: asString(id) ?? '', usage: undefined },
    failure: asString(asObject(error)?.message) ?? 'The speech could not be written down.',
  }),
  error: (_reader, { error }) => ({
    ...{ type: 'rejected', eventId: asString(asObject(error)?.event_id) },
    message: asString(asObject(error)?.message) ?? '',
  }),
};
