import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { SessionSettings } from '@llm0/core/realtime/session-facts';
import { asObject, asObjects, asString } from '../../translation/read-json';

/** Base64 characters of a second of sound. */
const CHARACTERS_A_SECOND: Readonly<Record<string, number>> = {
  ...{ 'audio/pcm': 64_000, pcm16: 64_000 },
  ...{ 'audio/pcmu': 10_668, 'audio/pcma': 10_668, g711_ulaw: 10_668, g711_alaw: 10_668 },
};

/** Characters of a second, where the session names a format. */
export interface SoundRates {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
}

/** Settings of a session in this protocol, and in its older spelling. */
export function readSettings(session: JsonObject): SessionSettings & { readonly rates: SoundRates } {
  const audio = asObject(session.audio) ?? {};
  const [input, output] = [asObject(audio.input) ?? {}, asObject(audio.output) ?? {}];
  const isTranscription = session.type === 'transcription';
  // null means that there is none.
  const either = (now: JsonValue | undefined, older: JsonValue | undefined) => (now === undefined ? older : now);
  const detection = either(input.turn_detection, session.turn_detection);
  const transcription = either(input.transcription, session.input_audio_transcription);
  return {
    model: asString(session.model),
    transcriptionModel: modelOf(transcription),
    promptBytes: transcription === undefined ? undefined : Buffer.byteLength(JSON.stringify(transcription)),
    outputTokens: limitOf(session.max_output_tokens ?? session.max_response_output_tokens),
    answersAlone: isTranscription ? false : answersAlone(detection),
    unbounded: session.tools === undefined ? undefined : runsElsewhere(session.tools),
    rates: {
      input: rateOf(asObject(input.format)?.type ?? session.input_audio_format),
      output: rateOf(asObject(output.format)?.type ?? session.output_audio_format),
    },
  };
}

/** undefined: the settings don't name it. */
function modelOf(value: JsonValue | undefined): string | null | undefined {
  if (value === null) return null;
  return value === undefined ? undefined : (asString(asObject(value)?.model) ?? undefined);
}

/** A number, or null for none. */
export function limitOf(value: JsonValue | undefined): number | null | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : null;
}

function answersAlone(detection: JsonValue | undefined): boolean | undefined {
  if (detection === undefined) return undefined;
  return detection !== null && asObject(detection)?.create_response !== false;
}

/** Tools that the vendor runs. */
const runsElsewhere = (tools: JsonValue): readonly string[] =>
  asObjects(tools).some(({ type }) => type !== 'function') ? ['tools'] : [];

const rateOf = (format: JsonValue | undefined) =>
  typeof format === 'string' ? CHARACTERS_A_SECOND[format] : undefined;
