import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { SseDecoder, type SseEvent, SseEventTooLargeError } from './decode-sse';
import { encodeSse } from './encode-sse';

const bytes = (text: string) => new TextEncoder().encode(text);

type Seen = Pick<SseEvent, 'event' | 'data'>;

function decodeAll(chunks: readonly Uint8Array[]): Seen[] {
  const decoder = new SseDecoder();
  const events = chunks.flatMap((chunk) => decoder.push(chunk));
  return [...events, ...decoder.flush()].map(({ event, data }) => (event === undefined ? { data } : { event, data }));
}

/** Cuts `whole` at the given positions. */
function cut(whole: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const sorted = [...new Set(positions.map((p) => p % (whole.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((from, i) => whole.slice(from, sorted[i] ?? whole.length));
}

describe('decoding server-sent events', () => {
  test.each<[string, string, Seen[]]>([
    ['line feeds', 'data: a\n\ndata: b\n\n', [{ data: 'a' }, { data: 'b' }]],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', [{ data: 'a' }, { data: 'b' }]],
    ['CR alone', 'data: a\r\rdata: b\r\r', [{ data: 'a' }, { data: 'b' }]],
    ['mixed line ends', 'data: a\r\n\ndata: b\r\rdata: c\n\r\n', [{ data: 'a' }, { data: 'b' }, { data: 'c' }]],
    ['no space after the colon', 'data:a\n\n', [{ data: 'a' }]],
    ['only one space is taken', 'data:  a\n\n', [{ data: ' a' }]],
    ['several data lines', 'data: a\ndata\ndata: c\n\n', [{ data: 'a\n\nc' }]],
    ['comments', ': ping\n\n: x\ndata: a\n: y\n\n:\n', [{ data: 'a' }]],
    ['event names', 'event: error\ndata: a\n\ndata: b\n\n', [{ event: 'error', data: 'a' }, { data: 'b' }]],
    ['a name without data', 'event: ping\n\ndata: a\n\n', [{ data: 'a' }]],
    ['id and retry', 'id: 1\nretry: 5\ndata: a\n\n', [{ data: 'a' }]],
    ['a field that only begins like data', 'database: x\ndata: a\n\n', [{ data: 'a' }]],
    ['byte order mark', '\uFEFFdata: a\n\n', [{ data: 'a' }]],
    ['byte order mark inside data is kept', 'data: \uFEFFa\n\n', [{ data: '\uFEFFa' }]],
    ['no empty line at the end', 'data: a\n\ndata: [DONE]', [{ data: 'a' }, { data: '[DONE]' }]],
    ['nothing', '', []],
    ['not an event stream', '<html>\n<body></body>\n\n</html>', []],
    ['empty data', 'data:\n\n', [{ data: '' }]],
    ['many bytes a character', 'data: 😀é漢\n\n', [{ data: '😀é漢' }]],
  ])('%s', (_name, text, expected) => {
    expect(decodeAll([bytes(text)])).toEqual(expected);
    expect(decodeAll([...bytes(text)].map((byte) => new Uint8Array([byte])))).toEqual(expected);
  });

  test('any chunking of the same bytes gives the same events', () => {
    const line = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
      fc.constantFrom(': ping', 'event: x', 'id: 7', 'data', 'data: 😀', 'nonsense', '', ''),
    );
    const end = fc.constantFrom('\n', '\r\n', '\r');
    const stream = fc.array(fc.tuple(line, end), { maxLength: 30 }).map((lines) => lines.flat().join(''));
    fc.assert(
      fc.property(stream, fc.boolean(), fc.array(fc.nat(500), { maxLength: 20 }), (text, bom, positions) => {
        const whole = bytes((bom ? '\uFEFF' : '') + text);
        expect(decodeAll(cut(whole, positions))).toEqual(decodeAll([whole]));
        for (const { data, event, raw } of new SseDecoder().push(whole)) {
          if (raw === undefined || data === '') continue;
          expect([event, new TextDecoder('utf-8', { ignoreBOM: true }).decode(raw)]).toEqual([
            undefined,
            raw[5] === 32 ? `data: ${data}\n\n` : `data:${data}\n\n`,
          ]);
        }
      }),
      { numRuns: runs(300) },
    );
  });

  test('encoding and decoding are inverse, up to the kind of line end', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (texts) => {
        const decoded = decodeAll([bytes(texts.map((text) => encodeSse(text, 'n')).join(''))]);
        expect(decoded).toEqual(texts.map((text) => ({ event: 'n', data: text.replace(/\r\n|\r/g, '\n') })));
      }),
    );
  });

  test('raw bytes are given only for plain events, and are exactly the event', () => {
    const decoder = new SseDecoder();
    const text = ': c\ndata: {"a":1}\n\ndata: b\r\n\r\nevent: x\ndata: c\n\ndata: d\ndata: e\n\ndata:f\n\n';
    const raws = decoder.push(bytes(text)).map((event) => event.raw && new TextDecoder().decode(event.raw));
    expect(raws).toEqual(['data: {"a":1}\n\n', undefined, undefined, undefined, 'data:f\n\n']);
  });

  test('raw bytes given out earlier stay as they were while later chunks come', () => {
    const one = bytes('data: first\n\n');
    const decoder = new SseDecoder();
    const events = [...one, ...one, ...one].flatMap((byte) => decoder.push(new Uint8Array([byte])));
    expect(events.map((event) => new TextDecoder().decode(event.raw))).toEqual(
      Array.from({ length: 3 }, () => 'data: first\n\n'),
    );
  });

  test('events of many sizes in chunks of many sizes stay as they were, however often the buffer grows', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(sizes, fc.array(fc.nat(400_000), { maxLength: 12 }), (lengths, positions) => {
        const events = lengths.map((length, i) => `data: ${String(i).repeat(length)}\n\n`);
        const decoder = new SseDecoder();
        const given = cut(bytes(events.join('')), positions).flatMap((chunk) => decoder.push(chunk));
        expect(given.map(({ raw }) => new TextDecoder().decode(raw)).join('')).toBe(events.join(''));
      }),
      { numRuns: runs(50) },
    );
  });

  test('an event beyond the bound leaves nothing behind', () => {
    const decoder = new SseDecoder(50_000);
    const line = bytes(`data: ${'a'.repeat(30_000)}\n`);
    decoder.push(line);
    expect(() => decoder.push(line)).toThrow(SseEventTooLargeError);
    expect(decoder.flush()).toEqual([]);
    expect(decoder.push(bytes('data: b\n\n')).map(({ data }) => data)).toEqual(['b']);
  });

  test('an event past the bound is refused, however it is cut', () => {
    const decoder = new SseDecoder(100);
    expect(() => decoder.push(bytes(`data: ${'x'.repeat(200)}`))).toThrow(SseEventTooLargeError);
    const slow = new SseDecoder(100);
    expect(() => {
      for (let i = 0; i < 200; i++) slow.push(bytes(i === 0 ? 'data: ' : 'x'));
    }).toThrow(SseEventTooLargeError);
  });

  test('endless comments are no event and take no memory', () => {
    const decoder = new SseDecoder(1000);
    for (let i = 0; i < 1000; i++) expect(decoder.push(bytes(': keep-alive\n'))).toEqual([]);
    expect(decoder.push(bytes('data: a\n\n'))[0]?.data).toBe('a');
  });
});
