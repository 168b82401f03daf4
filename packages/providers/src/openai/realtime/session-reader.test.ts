import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { completionTokens, promptTokens } from '@llm0/core/chat/usage';
import fc from 'fast-check';
import { parseEvent, peekType } from './peek-type';
import { SessionReader } from './session-reader';
import { readTurnUsage } from './usage';

const read = (event: JsonObject) => new SessionReader().readVendor(JSON.stringify(event));

describe('types of events', () => {
  test('a glance tells the same as parsing, or nothing', () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    const event = fc
      .dictionary(fc.constantFrom('type', 'event_id', 'delta', 'session'), value)
      .map((one) => JSON.stringify(one));
    fc.assert(
      fc.property(event, (frame) => {
        const peeked = peekType(frame);
        if (peeked !== undefined && !peeked.includes('\\')) expect(parseEvent(frame).type).toBe(peeked);
      }),
    );
    expect(peekType('{"type":"response.done","response":{}}')).toBe('response.done');
    expect(peekType('{"event_id":"event_1","type":"error"}')).toBe('error');
    expect(peekType('{"session":{"type":"realtime"},"type":"session.update"}')).toBeUndefined();
    expect(peekType('{"type":"cut')).toBeUndefined();
  });

  test('the order of members changes nothing', () => {
    const reader = new SessionReader();
    const frame = '{"response":{"max_output_tokens":50},"event_id":"mine","type":"response.create"}';
    expect(reader.readCaller(frame)).toEqual({ type: 'ask', eventId: 'mine', outputTokens: 50 });
    expect(reader.readCaller('{"type":"response.create","response":{"max_output_tokens":"inf"}}')).toMatchObject({
      outputTokens: undefined,
    });
    expect(reader.readCaller('no json')).toBeUndefined();
    expect(reader.readVendor('[]')).toBeUndefined();
  });
});

describe('usage of answers', () => {
  test('classes are disjoint, and add up to what was told', () => {
    const count = fc.nat(10_000);
    fc.assert(
      fc.property(count, count, count, count, count, count, (text, audio, image, cachedText, cachedAudio, out) => {
        const told = {
          input_tokens: text + audio + image,
          output_tokens: out,
          input_token_details: {
            ...{ text_tokens: text, audio_tokens: audio, image_tokens: image },
            cached_tokens: Math.min(cachedText, text) + Math.min(cachedAudio, audio),
            cached_tokens_details: {
              text_tokens: Math.min(cachedText, text),
              audio_tokens: Math.min(cachedAudio, audio),
            },
          },
          output_token_details: { text_tokens: out >> 1, audio_tokens: out - (out >> 1) },
        };
        const usage = readTurnUsage(told);
        if (text + audio + image + out === 0) expect(usage).toBeUndefined();
        else {
          expect(usage && promptTokens(usage)).toBe(told.input_tokens);
          expect(usage && completionTokens(usage)).toBe(out);
          expect(usage?.cacheReadAudioTokens ?? 0).toBe(Math.min(cachedAudio, audio));
        }
      }),
    );
  });

  test('an answer without usage tells none; a failed one says why', () => {
    expect(read({ type: 'response.done', response: { id: 'r', status: 'cancelled', usage: null } })).toEqual({
      ...{ type: 'ended', turnId: 'r', usage: undefined },
    });
    const status_details = { error: { message: 'out of quota' } };
    const response = { id: 'r', status: 'failed', status_details };
    expect(read({ type: 'response.done', response })).toMatchObject({ failure: 'out of quota' });
  });
});

test('settings in both spellings of the protocol', () => {
  const now = {
    type: 'realtime',
    model: 'm',
    max_output_tokens: 100,
    audio: { input: { transcription: { model: 'w' }, turn_detection: { type: 'server_vad', create_response: false } } },
    tools: [{ type: 'mcp' }],
  };
  const settings = { model: 'm', outputTokens: 100, transcriptionModel: 'w', answersAlone: false };
  expect(read({ type: 'session.updated', session: now })).toMatchObject({
    settings: { ...settings, unbounded: ['tools'] },
  });
  const before = {
    ...{ model: 'm', max_response_output_tokens: 100, turn_detection: null },
    input_audio_transcription: { model: 'w' },
  };
  expect(read({ type: 'session.created', session: before })).toMatchObject({ settings });
  const none = {
    type: 'session.updated',
    session: { audio: { input: { transcription: null } }, max_output_tokens: 'inf' },
  };
  expect(read(none)).toMatchObject({ settings: { transcriptionModel: null, outputTokens: null } });
});

test('what was sent and received is counted by the format of the sound', () => {
  const reader = new SessionReader();
  const second = (characters: number) =>
    JSON.stringify({ type: 'input_audio_buffer.append', audio: 'A'.repeat(characters) });
  reader.readCaller(second(64_000));
  expect(reader.takeInput().inputAudioTokens).toBe(11);
  expect(Math.round(reader.takeSeconds())).toBe(1);
  const audio = { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } };
  reader.readVendor(JSON.stringify({ type: 'session.updated', session: { audio } }));
  reader.readCaller(second(10_668));
  expect(Math.round(reader.takeSeconds())).toBe(1);
  reader.readCaller('{"type":"input_audio_buffer.clear"}');
  expect(reader.takeSeconds()).toBe(0);
  reader.readVendor(JSON.stringify({ type: 'response.output_audio.delta', delta: 'A'.repeat(10_668) }));
  reader.readVendor('{"type":"response.output_audio_transcript.delta","delta":"hi"}');
  expect(reader.takeOutput()).toMatchObject({ outputTokens: 1, outputAudioTokens: 21 });
  expect(reader.takeOutput()).toMatchObject({ outputTokens: 0, outputAudioTokens: 0 });
});
