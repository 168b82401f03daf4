import type { JsonObject } from '../chat/json';
import { type Usage, ZERO_USAGE } from '../chat/usage';
import { GatewayError } from '../errors/gateway-error';
import type { PricedModel } from '../pricing/price-book';
import type { AudioFacts, AudioFormat } from './audio-duration';
import { boundTokens, type SentFile, type TaskRequest } from './task-request';

export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

export interface TranscriptionRequest extends TaskRequest {
  readonly file: SentFile;
  readonly facts: AudioFacts;
  /** Bytes of the file, at most. */
  readonly size: number;
  /** Into English. */
  readonly translates: boolean;
  readonly prompt?: string | undefined;
  readonly format: TranscriptFormat;
}

/** `text`, and the vendor's further fields: `segments`, `words`, `language`, `duration`. */
export interface TranscriptAnswer extends JsonObject {
  text: string;
  /** What the caller asked for. */
  format: TranscriptFormat;
}

export interface SpeechRequest extends TaskRequest {
  readonly input: string;
  readonly voice: string | JsonObject;
  readonly instructions?: string | undefined;
  /** Events instead of bytes. */
  readonly wantsEvents: boolean;
  /** `mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`; absent: the provider's own. */
  readonly format?: string | undefined;
}

export interface SpeechAnswer extends JsonObject {
  /** Base64. */
  audio: string;
  /** Media type. */
  type: string;
}

/** Bytes of a second at the highest usual quality: no file is shorter than its size says. */
const MOST_BYTES: Readonly<Record<AudioFormat, number>> = {
  ...{ wav: 384_000, flac: 384_000, mp3: 40_000, mp4: 64_000, ogg: 64_000, webm: 64_000 },
};
/** Of speech whose header says nothing. */
const USUAL_BYTES: Readonly<Record<AudioFormat, number>> = {
  ...{ wav: 32_000, flac: 16_000, mp3: 4000, mp4: 4000, ogg: 2000, webm: 2000 },
};
/** Least bytes of a second; the other formats store silence as nothing. */
const LEAST_BYTES: Readonly<Partial<Record<AudioFormat, number>>> = { wav: 1000, mp3: 1000 };

/** Seconds for the hold: those of the header, if the size allows them; under strict caps, as many as fit. */
function boundSeconds({ facts, size }: TranscriptionRequest, strict: boolean): number {
  const { format, seconds } = facts;
  if (!strict) return seconds === undefined ? size / USUAL_BYTES[format] : Math.max(seconds, size / MOST_BYTES[format]);
  const least = LEAST_BYTES[format];
  if (least !== undefined) return size / least;
  const message = `This project has strict caps: ${format} audio of ${size} bytes has no bound on its cost. Send WAV or MP3.`;
  throw new GatewayError('request_over_limit', message, { param: 'file' });
}

/** Tokens of a second of sound, and of what is said in it, at most. */
const AUDIO_TOKENS = 32;
const TEXT_TOKENS = 10;

const round = (seconds: number) => Math.ceil(seconds * 1000) / 1000;

/** The seconds and tokens that a vendor bills at most. */
export function boundTranscription(request: TranscriptionRequest, { prices }: PricedModel, strict: boolean): Usage {
  const seconds = boundSeconds(request, strict);
  const isByToken = prices.input_audio !== undefined || prices.input !== undefined;
  if (!isByToken) return { ...ZERO_USAGE, units: { seconds: round(seconds) } };
  return {
    ...ZERO_USAGE,
    inputTokens: boundTokens([request.prompt ?? ''], strict),
    inputAudioTokens: Math.ceil(AUDIO_TOKENS * seconds),
    outputTokens: Math.ceil(TEXT_TOKENS * seconds),
    units: { seconds: round(seconds) },
  };
}

/** A slow voice says few characters in a second. */
const SPOKEN_TOKENS = 2;

/** The characters and tokens that a vendor bills at most; throws under strict caps where speech has no bound. */
export function boundSpeech(request: SpeechRequest, priced: PricedModel, strict: boolean): Usage {
  const { input, instructions = '' } = request;
  const { prices, maxOutputTokens, provider, model } = priced;
  const characters = [...input].length;
  const units = { characters };
  if (prices.output_audio === undefined) return { ...ZERO_USAGE, units };
  if (strict && maxOutputTokens === undefined) {
    const message =
      `This project has strict caps: speech of ${provider}/${model} has no bound on its cost, because the price book has ` +
      'no "max_output_tokens" for it.';
    throw new GatewayError('request_over_limit', message, { param: 'model' });
  }
  return {
    ...ZERO_USAGE,
    inputTokens: boundTokens([input, instructions], strict),
    outputAudioTokens: strict ? (maxOutputTokens ?? 0) : SPOKEN_TOKENS * characters,
    units,
  };
}
