import { describe, expect, test } from 'bun:test';
import { isBilledStatus } from '../billing/billed-statuses';
import { createErrorDecoders } from './error-body';
import { refuseRedirect } from './fetch-upstream';

const { decodeError } = createErrorDecoders({ provider: 'vendor', statusByType: {} });
const told = (body: string) => decodeError({ status: 502, headers: new Headers(), body }).message;
const fill = (piece: string) => piece.repeat(Math.ceil(20_000 / piece.length)).slice(0, 20_000);

describe('pages instead of errors', () => {
  test.each([
    ['<html><title>Bad gateway</title></html>', 'Bad gateway'],
    ['<html><style>a{b:c}</style><body>Away <b>today</b></body></html>', 'Away today'],
    ['<SCRIPT src="x">let a = 1;</SCRIPT>Away', 'Away'],
    ['Away <script>without an end', 'Away'],
  ])('%s tells its words', (page, words) => {
    expect(told(page)).toContain(words);
    expect(told(page)).not.toMatch(/[<>]|let a|b:c|without an end/);
  });

  test.each(['<', '<title', '<title>', '<script', '<script>', '<style></script>', '</script>', ' ', '[', '<a '])(
    'a page of nothing but %p takes no time',
    (piece) => {
      const before = process.cpuUsage();
      told(fill(piece));
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(40);
    },
  );
});

test('an invalid status is refused, and may be billed', () => {
  expect(() => refuseRedirect('vendor', { status: 999, body: null } as Response)).toThrow('999');
  expect(isBilledStatus('vendor', 999)).toBe(true);
  expect(isBilledStatus('vendor', 503)).toBe(false);
});
