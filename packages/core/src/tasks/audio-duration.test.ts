import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readAudio } from './audio-duration';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const be32 = (value: number) => hex(value.toString(16).padStart(8, '0'));
const le32 = (value: number) => Buffer.from(be32(value)).reverse();
const box = (type: string, ...content: Buffer[]) => {
  const body = Buffer.concat(content);
  return Buffer.concat([be32(body.length + 8), Buffer.from(type), body]);
};

/** 16,000 samples a second of two bytes; `rate` is what the header says beside it. */
const wav = (length: number, rate = 32_000, extra = Buffer.alloc(0)) =>
  Buffer.concat([
    ...[Buffer.from('RIFF'), le32(0), Buffer.from('WAVEfmt '), le32(16), hex('0100 0100'), le32(16_000), le32(rate)],
    ...[hex('0200 1000'), extra, Buffer.from('data'), le32(length)],
  ]);
const FLAC = Buffer.concat([
  ...[Buffer.from('fLaC'), hex('00 00 00 22'), Buffer.alloc(10)],
  // 44,100 samples a second, 441,000 samples.
  ...[hex('0a c4 42 f0 00 06 ba a8'), Buffer.alloc(16)],
]);
const MP4 = Buffer.concat([
  ...[box('ftyp', Buffer.from('M4A ')), box('free', Buffer.alloc(20))],
  box('moov', box('mvhd', Buffer.alloc(12), be32(1000), be32(12_500), Buffer.alloc(80))),
]);
const WEBM = Buffer.concat([
  ...[hex('1a45dfa3 80'), hex('1549a966 90'), hex('2ad7b1 83 0f4240')],
  ...[
    hex('4489 88'),
    (() => {
      const duration = Buffer.alloc(8);
      duration.writeDoubleBE(7250);
      return duration;
    })(),
  ],
]);
/** A frame of 128 kbit/s at 44,100 Hz, in front of others. */
const MP3 = Buffer.concat([hex('fffb9000'), Buffer.alloc(200)]);
const XING = Buffer.concat([
  hex('fffb9000'),
  Buffer.alloc(32),
  Buffer.from('Xing'),
  be32(1),
  be32(383),
  Buffer.alloc(90),
]);
const ID3 = Buffer.concat([Buffer.from('ID3'), hex('0300 00 00000110'), Buffer.alloc(144), MP3]);

describe('duration by header', () => {
  test.each<[string, Buffer, number, string, number | undefined]>([
    ['wav', wav(96_000), 96_044, 'wav', 3],
    ['wav with a false length', wav(10), 96_044, 'wav', 3],
    ['wav with a false rate', wav(96_000, 32_000_000), 96_044, 'wav', 3],
    [
      'wav with other chunks',
      wav(96_000, 32_000, Buffer.concat([Buffer.from('LIST'), le32(3), Buffer.alloc(4)])),
      96_056,
      'wav',
      3,
    ],
    ['wav without sound', Buffer.from('RIFF    WAVE'), 12, 'wav', undefined],
    ['flac', FLAC, 1_000_000, 'flac', 10],
    ['m4a', MP4, 1_000_000, 'mp4', 12.5],
    ['m4a with its index behind', box('ftyp', Buffer.from('M4A ')), 1_000_000, 'mp4', undefined],
    ['webm', WEBM, 1_000_000, 'webm', 7.25],
    ['webm of a browser', hex('1a45dfa3 80'), 1_000_000, 'webm', undefined],
    ['mp3 by its rate', MP3, 160_000, 'mp3', 10],
    ['mp3 by its frames', XING, 160_000, 'mp3', (383 * 1152) / 44_100],
    ['mp3 with tags', ID3, 160_154, 'mp3', 10],
    ['ogg', Buffer.from('OggS\0\x02'), 1_000_000, 'ogg', undefined],
  ])('%s', (_name, head, size, format, seconds) => {
    const facts = readAudio(head, size);
    expect(facts?.format).toBe(format as never);
    if (seconds === undefined) expect(facts?.seconds).toBeUndefined();
    else expect(facts?.seconds).toBeCloseTo(seconds, 6);
  });

  test.each(['', 'x', 'hello, this is no audio', '<html>', '{"a":1}', 'RIFF    AVI '])('%p is no audio', (text) => {
    expect(readAudio(Buffer.from(text), text.length)).toBeUndefined();
  });

  test('headers cut anywhere, or of any bytes, break nothing', () => {
    const heads = [wav(96_000), FLAC, MP4, WEBM, MP3, XING, ID3];
    const cut = fc.record({
      head: fc.constantFrom(...heads),
      at: fc.nat(300),
      noise: fc.uint8Array({ maxLength: 64 }),
      from: fc.nat(60),
    });
    fc.assert(
      fc.property(cut, ({ head, at, noise, from }) => {
        const bytes = Buffer.from(head.subarray(0, at));
        bytes.set(noise.subarray(0, Math.max(0, bytes.length - from)), Math.min(from, bytes.length));
        const seconds = readAudio(bytes, 1_000_000)?.seconds;
        expect(seconds === undefined || (Number.isFinite(seconds) && seconds > 0)).toBe(true);
      }),
    );
  });
});
