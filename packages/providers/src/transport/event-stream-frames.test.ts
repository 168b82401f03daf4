import { describe, expect, test } from 'bun:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { frame } from '../bedrock/__fixtures__/answers';
import { EventStreamFrames } from './event-stream-frames';

const FRAMES = Buffer.concat([
  frame({ 'message-type': 'event', 'event-type': 'messageStart' }, '{"role":"assistant"}'),
  frame({ 'message-type': 'event', 'event-type': 'contentBlockDelta' }, `{"text":"${'ü'.repeat(300)}"}`),
  frame({ 'message-type': 'event', 'event-type': 'messageStop' }, ''),
]);

/** What comes of the bytes, cut at these places: the names of the events, null for damage. */
function read(bytes: Uint8Array, cuts: readonly number[]): (string | null | undefined)[] {
  const frames = new EventStreamFrames();
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  return places.flatMap((place, i) =>
    frames
      .push(bytes.subarray(places[i - 1] ?? 0, place))
      .map((one) => (one === null ? null : one.header(':event-type'))),
  );
}

const ALL = ['messageStart', 'contentBlockDelta', 'messageStop'];

/** A prelude that promises a message of this length, with a checksum that is right. */
function prelude(length: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(length, 0);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  return bytes;
}

describe('the binary event stream', () => {
  test('gives the same messages however it is cut', () => {
    const cuts = fc.array(fc.nat(FRAMES.length), { maxLength: 40 });
    fc.assert(fc.property(cuts, (places) => expect(read(FRAMES, places)).toEqual(ALL)));
    expect(
      read(
        FRAMES,
        [...FRAMES].map((_, i) => i),
      ),
    ).toEqual(ALL);
  });

  test('ends where a bit of it is damaged', () => {
    const at = fc.nat(FRAMES.length - 1);
    fc.assert(
      fc.property(at, fc.nat(7), fc.array(fc.nat(FRAMES.length), { maxLength: 9 }), (place, bit, cuts) => {
        const damaged = Buffer.from(FRAMES);
        damaged[place] = (damaged[place] ?? 0) ^ (1 << bit);
        const found = read(damaged, cuts);
        expect(found.at(-1)).toBeNull();
        expect(found.slice(0, -1)).toEqual(ALL.slice(0, found.length - 1));
      }),
    );
  });

  test.each([0, 4, 15, 24 * 1024 * 1024 + 1, 2 ** 32 - 1])('waits for no message of %d bytes', (length) => {
    const frames = new EventStreamFrames();
    expect(frames.push(Buffer.concat([prelude(length), Buffer.alloc(64)]))).toEqual([null]);
    expect(frames.push(FRAMES)).toEqual([]);
  });

  test('half a message is none yet', () => {
    expect(read(FRAMES.subarray(0, FRAMES.length - 1), [])).toEqual(ALL.slice(0, 2));
    expect(read(prelude(24 * 1024 * 1024), [])).toEqual([]);
  });
});
