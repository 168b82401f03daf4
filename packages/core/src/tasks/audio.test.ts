import { describe, expect, test } from 'bun:test';
import { boundSpeech, boundTranscription, type TranscriptionRequest } from './audio';

const model = (prices: Record<string, number>, maxOutputTokens?: number) => ({
  ...{ provider: 'p', model: 'm', mode: 'speech', prices, capabilities: [] },
  ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
});
const request = (facts: TranscriptionRequest['facts'], size: number): TranscriptionRequest => ({
  ...{ model: 'm', stream: false, extra: {}, translates: false, format: 'json', facts, size },
  file: { name: 'a', type: 'audio/wav', pieces: [] },
});
const MINUTE = model({ minute: 6_000_000_000 });

describe('the bound of a transcript', () => {
  test.each<[string, TranscriptionRequest, number]>([
    ['is the duration of the header', request({ format: 'mp3', seconds: 10 }, 160_000), 10],
    ['is no shorter than the size allows', request({ format: 'mp3', seconds: 0.1 }, 4_000_000), 100],
    ['is that of usual speech without a header', request({ format: 'ogg' }, 200_000), 100],
  ])('%s', (_name, given, seconds) => {
    expect(boundTranscription(given, MINUTE, false).units).toEqual({ seconds });
  });

  test('counts every byte under strict caps, and has none where silence takes no bytes', () => {
    expect(boundTranscription(request({ format: 'mp3', seconds: 1 }, 50_000), MINUTE, true).units).toEqual({
      seconds: 50,
    });
    expect(() => boundTranscription(request({ format: 'flac', seconds: 1 }, 50_000), MINUTE, true)).toThrow('no bound');
  });

  test('has tokens where these are billed', () => {
    const byToken = model({ input: 1, input_audio: 1, output: 1 });
    expect(boundTranscription(request({ format: 'mp3', seconds: 10 }, 160_000), byToken, false)).toMatchObject({
      ...{ inputAudioTokens: 320, outputTokens: 100, units: { seconds: 10 } },
    });
  });
});

test('the bound of speech is its characters, or tokens that grow with them', () => {
  const speech = {
    ...{ model: 'm', stream: true, extra: {}, input: 'hé😀', voice: 'v', format: 'mp3', wantsEvents: false },
  };
  expect(boundSpeech(speech, model({ character: 1 }), true)).toMatchObject({
    units: { characters: 3 },
    inputTokens: 0,
  });
  const byToken = { input: 1, output_audio: 1 };
  expect(boundSpeech(speech, model(byToken), false)).toMatchObject({ inputTokens: 3, outputAudioTokens: 6 });
  expect(boundSpeech(speech, model(byToken, 2000), true)).toMatchObject({ inputTokens: 7, outputAudioTokens: 2000 });
  expect(() => boundSpeech(speech, model(byToken), true)).toThrow('max_output_tokens');
});
