import { expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import { threadMs } from '@llm0/testing/thread-time';
import fc from 'fast-check';
import { UsageEventFilter } from './drop-usage-event';

const word = (text: string, more = '') => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]${more}}\n\n`;
const USAGE = 'data: {"id":"x","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';
const DONE = 'data: [DONE]\n\n';

function filtered(bytes: Uint8Array, cuts: readonly number[]): string {
  const filter = new UsageEventFilter();
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    kept.push(filter.push(bytes.slice(from, cut)));
    from = cut;
  }
  return Buffer.concat([...kept, filter.end()]).toString('utf8');
}

test('only the event that tells nothing but usage is taken out, however the bytes are cut', () => {
  const large = word('é'.repeat(20_000));
  const lines = [word('one', ',"usage":null'), ': ping\n\n', large, word('two', ',"usage":{"prompt_tokens":1}'), DONE];
  const whole = Buffer.from([...lines.slice(0, 4), USAGE, DONE].join(''));
  fc.assert(
    fc.property(fc.array(fc.nat({ max: whole.length }), { maxLength: 30 }), (cuts) => {
      expect(
        filtered(
          whole,
          [...cuts].sort((a, b) => a - b),
        ),
      ).toBe(lines.join(''));
    }),
    { numRuns: runs(200) },
  );
});

test('a stream without an end mark passes, and other line ends count', () => {
  expect(filtered(Buffer.from('data: {"choices":[{"a":1}]}'), [5])).toBe('data: {"choices":[{"a":1}]}');
  expect(filtered(Buffer.from(USAGE.trimEnd()), [])).toBe('');
  expect(filtered(Buffer.from((word('x') + USAGE).replaceAll('\n', '\r\n')), [])).toBe(
    word('x').replaceAll('\n', '\r\n'),
  );
});

test('a thousand tiny events in a piece are looked through once', () => {
  const bytes = Buffer.from(': a\n\n'.repeat(400_000));
  const cuts = Array.from({ length: Math.floor(bytes.length / 65_536) }, (_, i) => (i + 1) * 65_536);
  const startMs = threadMs();
  expect(filtered(bytes, cuts)).toBe(bytes.toString());
  // Looking through the rest of the piece for each of them took ten times as long.
  expect(threadMs() - startMs).toBeLessThan(500);
});
