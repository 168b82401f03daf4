import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { type CallerFact, UNNAMED_MODEL, type VendorFact } from '@llm0/core/realtime/session-facts';
import type { RealtimePart, RealtimeReader } from '../../realtime';
import { asObject, asString } from '../../translation/read-json';
import { parseEvent, peekType } from './peek-type';
import { realtime, socketEndpoint } from './realtime';

/** 16-bit samples at 24 kHz, in characters of base64: the only format. */
const RATE = 64_000;
const APPEND = 'session.input_audio_buffer.append';
const AUDIO = '"audio":"';
const SETTINGS: ReadonlySet<string> = new Set(['session.update', 'session.created', 'session.updated']);

/** Sessions that are billed by the seconds of speech in them. The vendor tells no usage. */
class TranslationReader implements RealtimeReader {
  private audio = 0;

  readCaller(frame: string): CallerFact | undefined {
    const type = peekType(frame) ?? asString(parseEvent(frame).type) ?? '';
    if (type !== APPEND) return this.readSettings(frame, type);
    this.audio += audioIn(frame);
    return undefined;
  }

  readVendor(frame: string): VendorFact | undefined {
    return this.readSettings(frame, peekType(frame) ?? asString(parseEvent(frame).type) ?? '');
  }

  takeInput() {
    return ZERO_USAGE;
  }

  takeOutput() {
    return ZERO_USAGE;
  }

  takeSeconds(): number {
    const seconds = this.audio / RATE;
    this.audio = 0;
    return seconds;
  }

  private readSettings(frame: string, type: string) {
    if (!SETTINGS.has(type)) return undefined;
    const session = asObject(parseEvent(frame).session) ?? {};
    const told = asObject(asObject(session.audio)?.input)?.transcription;
    const transcription = asObject(told);
    const settings = {
      model: asString(session.model),
      // The vendor documents no default.
      transcriptionModel: told === null ? null : transcription && (asString(transcription.model) ?? UNNAMED_MODEL),
      // The vendor tells nothing of what it costs.
      unbounded: transcription === undefined ? undefined : ['session.audio.input.transcription'],
    };
    return { type: 'settings', settings } as const;
  }
}

/** Characters of base64; a frame of another form is parsed. */
function audioIn(frame: string): number {
  const start = frame.indexOf(AUDIO);
  if (start === -1) return asString(parseEvent(frame).audio)?.length ?? 0;
  const end = frame.indexOf('"', start + AUDIO.length);
  return end === -1 ? 0 : end - start - AUDIO.length;
}

/** Source: https://platform.openai.com/docs/guides/realtime-translation */
export const translation: RealtimePart = {
  ...realtime,
  endpoint: (target) => socketEndpoint(target, `realtime/translations?model=${encodeURIComponent(target.model)}`),
  createReader: () => new TranslationReader(),
  // Nothing but the end of the session stops it.
  cancelFrame: () => undefined,
};
