import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AnswerReader } from './answer-reader';

const PLAIN = 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nContent-Type: application/json\r\n\r\n{"a":"b\r\n"}';
const STREAM =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' +
  'c\r\ndata: {"a":1}\r\n2\r\n\n\n\r\nE\r\ndata: [DONE]\n\n\r\n0\r\n\r\n'.replace(
    'c\r\ndata: {"a":1}',
    'd\r\ndata: {"a":1}',
  );
const EMPTY = 'HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n';
const CUT = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\ndata: {"a":1}\r\n0\r\n\r\n';

/** Feeds the bytes in pieces cut at the positions; true when only the last piece completed the answer. */
function read(text: string, positions: readonly number[]) {
  const bytes = Buffer.from(text);
  const cuts = [...new Set(positions.map((position) => position % bytes.length))].sort((a, b) => a - b);
  const reader = new AnswerReader();
  const dones = [0, ...cuts].map((from, index) => reader.push(bytes.subarray(from, cuts[index] ?? bytes.length)));
  return { reader, isDoneAtEndOnly: dones.indexOf(true) === dones.length - 1 };
}

describe('reading an answer', () => {
  test.each([
    ['with a length', PLAIN, 200, true, false],
    ['in chunks', STREAM, 200, true, true],
    ['without a body', EMPTY, 204, false, false],
    ['in chunks that end too early', CUT, 200, true, false],
  ])('%s, however it is cut', (_name, text, status, hasBody, isWholeStream) => {
    fc.assert(
      fc.property(fc.array(fc.nat(500)), (positions) => {
        const { reader, isDoneAtEndOnly } = read(text, positions);
        expect(isDoneAtEndOnly).toBe(true);
        expect({ status: reader.status, hasBody: reader.hasBody, isWholeStream: reader.isWholeStream }).toEqual({
          status,
          hasBody,
          isWholeStream,
        });
      }),
    );
  });

  test('refuses what is no HTTP', () => {
    expect(() => new AnswerReader().push(Buffer.from('SSH-2.0-x\r\n\r\n'))).toThrow(/not an HTTP answer/);
  });
});

test('a large answer that comes at once is an answer', () => {
  const event = `data: ${'x'.repeat(40)}\n\n`;
  const chunk = `${event.length.toString(16)}\r\n${event}\r\n`;
  const end = 'e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n';
  const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(3000)}${end}`;
  const { reader, isDoneAtEndOnly } = read(text, []);
  expect([reader.status, reader.isWholeStream, isDoneAtEndOnly]).toEqual([200, true, true]);
});
