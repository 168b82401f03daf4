import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeAnswer, encodeAnswer } from './answer-codec';
import { parseCacheControl, splitList } from './cache-control';
import { resourceOf } from './cache-keys';
import { type CacheAsk, type CachePlace, HttpCache } from './http-cache';
import { describeAnswer, type StoredAnswer } from './stored-answer';
import { usabilityOf } from './use-answer';

const START_MS = 1_772_366_400_000;
const NONE = parseCacheControl(null);
const times = { requestedAtMs: START_MS, receivedAtMs: START_MS, defaultTtlMs: 60_000, alwaysVary: [] };

const seconds = fc.integer({ min: 0, max: 1000 });
const directiveArb = fc.oneof(
  fc.constantFrom('public', 'private', 'no-store', 'no-cache', 'must-revalidate', 'proxy-revalidate', 'immutable'),
  fc
    .tuple(fc.constantFrom('max-age', 's-maxage', 'stale-while-revalidate', 'stale-if-error'), seconds)
    .map(([name, s]) => `${name}=${s}`),
  fc.constantFrom('max-age=x', 'max-age', 'x="a, no-store"', 'max-age="7"'),
);
const controlArb = fc.array(directiveArb, { maxLength: 5 });
const headersArb = fc.record(
  {
    etag: fc.constantFrom('"a"', 'W/"b"'),
    age: fc.constantFrom('0', '5', '90', 'x', '3, 4'),
    date: fc.integer({ min: -100, max: 100 }).map((s) => new Date(START_MS + s * 1000).toUTCString()),
    expires: fc.oneof(
      fc.constant('0'),
      fc.integer({ min: -100, max: 1000 }).map((s) => new Date(START_MS + s * 1000).toUTCString()),
    ),
    vary: fc.constantFrom('accept', '*', 'accept, x-a', ''),
    'set-cookie': fc.constant('a=b'),
  },
  { requiredKeys: [] },
);
const statusArb = fc.constantFrom(200, 203, 204, 206, 301, 302, 304, 400, 404, 410, 500, 503);
const headArb = fc.tuple(statusArb, headersArb, controlArb).map(([status, headers, control]) => ({
  status,
  headers: { ...headers, ...(control.length === 0 ? {} : { 'cache-control': control.join(', ') }) } as Record<
    string,
    string
  >,
}));

describe('cacheable answers', () => {
  test('is never something private, unstorable, partial, or chosen by everything', () => {
    fc.assert(
      fc.property(headArb, (head) => {
        const described = describeAnswer(head, times);
        if (described === undefined) return;
        const control = parseCacheControl(head.headers['cache-control']);
        expect(control.has('no-store') || control.has('private')).toBe(false);
        expect([206, 304, 400, 500, 503]).not.toContain(head.status);
        expect(described.vary).not.toContain('*');
        if (head.headers['set-cookie'] !== undefined)
          expect(control.has('public') || control.has('s-maxage')).toBe(true);
      }),
    );
  });

  test('is used less and less as time goes, never more', () => {
    const RANK = { fresh: 2, stale: 1, validate: 0 } as const;
    fc.assert(
      fc.property(headArb, controlArb, seconds, seconds, (head, asked, one, other) => {
        const described = describeAnswer(head, times);
        if (described === undefined) return;
        const answer: StoredAnswer = { ...described, body: new Uint8Array() };
        const control = parseCacheControl(asked.join(', '));
        const [soon, late] = [Math.min(one, other), Math.max(one, other)].map(
          (s) => RANK[usabilityOf(answer, control, START_MS + s * 1000)],
        );
        expect(late ?? 0).toBeLessThanOrEqual(soon ?? 0);
      }),
    );
  });

  test('is not fresh beyond what it says of itself, whatever comes between', () => {
    fc.assert(
      fc.property(headArb, seconds, (head, s) => {
        const described = describeAnswer(head, times);
        if (described === undefined) return;
        const answer: StoredAnswer = { ...described, body: new Uint8Array() };
        if (usabilityOf(answer, NONE, START_MS + s * 1000) !== 'fresh') return;
        expect(s * 1000 + answer.initialAgeMs).toBeLessThan(answer.lifetimeMs);
        expect(answer.isAlwaysValidated).toBe(false);
      }),
    );
  });
});

describe('directives', () => {
  test('mean the same in any order and any case of letters', () => {
    const shown = (text: string) => {
      const described = describeAnswer({ status: 200, headers: { 'cache-control': text } }, times);
      return described && { ...described, headers: {} };
    };
    fc.assert(
      fc.property(
        fc.uniqueArray(directiveArb, { maxLength: 5, selector: (one) => one.split('=')[0] }),
        (directives) => {
          const text = directives.join(', ');
          expect(shown([...directives].reverse().join(',').toUpperCase())).toEqual(shown(text));
        },
      ),
    );
  });

  test('are read from any text, in bounded number', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        parseCacheControl(text).ms('max-age');
        expect(splitList(text).every((part) => part !== '')).toBe(true);
      }),
    );
    expect(splitList('a, "b, c\\", d", e')).toEqual(['a', '"b, c\\", d"', 'e']);
  });
});

test('an answer is the same after it was written and read, whatever is in it', () => {
  fc.assert(
    fc.property(headArb, fc.uint8Array({ maxLength: 200 }), (head, body) => {
      const described = describeAnswer(head, times);
      if (described === undefined) return;
      const answer: StoredAnswer = { ...described, body };
      const read = decodeAnswer(encodeAnswer(answer));
      expect(read && { ...read, body: [...read.body] }).toEqual({ ...answer, body: [...body] } as never);
    }),
  );
  for (const text of ['', '{}', '{}\n', '{"v":"http-0"}\nx', 'null\n', 'x\ny'])
    expect(decodeAnswer(text)).toBeUndefined();
});

describe('the memory', () => {
  const ask = (target: number, variant: number): CacheAsk => ({
    ...{
      projectId: 'p',
      revision: 'r',
      defaultTtlMs: 60_000,
      alwaysVary: target % 2 === 1 ? ['x-variant'] : [],
      provider: 'infer:x',
      method: 'GET',
      target: `/${target}`,
    },
    fields: { get: (name) => (name === 'x-variant' ? String(variant) : null) },
  });
  const stepArb = fc.record({
    target: fc.integer({ min: 0, max: 30 }),
    variant: fc.integer({ min: 0, max: 5 }),
    vary: fc.constantFrom(undefined, 'x-variant'),
    bytes: fc.integer({ min: 0, max: 2000 }),
    do: fc.constantFrom('get', 'get', 'get', 'invalidate', 'purge'),
    laterMs: fc.integer({ min: 0, max: 5000 }),
  });

  test('keeps its bounds, and gives nobody what was kept for another request', () => {
    fc.assert(
      fc.property(fc.array(stepArb, { maxLength: 80 }), (steps) => {
        let nowMs = START_MS;
        const cache = new HttpCache({
          ...{
            enabled: true,
            isShared: false,
            maxEntries: 20,
            maxBytes: 20_000,
            maxEntryBytes: 1500,
            nowMs: () => nowMs,
          },
        });
        for (const step of steps) {
          nowMs += step.laterMs;
          const asked = ask(step.target, step.variant);
          if (step.do === 'purge') cache.purge({ projectId: 'p' });
          if (step.do === 'invalidate') cache.invalidate(resourceOf(asked));
          const look = cache.look(asked);
          if (look.type === 'off') throw new Error('it is on');
          if (step.do === 'purge' || step.do === 'invalidate') expect(look.type).toBe('miss');
          if (look.type === 'hit') {
            const said = JSON.parse(Buffer.from(look.answer.body).toString().trim()) as [number, number, boolean];
            expect(said[0]).toBe(step.target);
            // Chosen by the field, where the answer said so.
            if (said[2]) expect(said[1]).toBe(step.variant);
            expect(nowMs - look.answer.receivedAtMs).toBeLessThan(10_000);
          } else keep(cache, look.place, step, nowMs);
          expect(cache.stats.entries).toBeLessThanOrEqual(20);
          expect(cache.stats.bytes).toBeLessThanOrEqual(20_000);
        }
      }),
    );
  });

  function keep(
    cache: HttpCache,
    place: CachePlace,
    step: { target: number; variant: number; vary?: string; bytes: number },
    nowMs: number,
  ) {
    const headers = { 'cache-control': 'max-age=10', ...(step.vary === undefined ? {} : { vary: step.vary }) };
    const described = cache.describe(place, { status: 200, headers }, { requestedAtMs: nowMs, receivedAtMs: nowMs });
    const body = Buffer.from(JSON.stringify([step.target, step.variant, step.vary !== undefined]).padEnd(step.bytes));
    if (described !== undefined) cache.keep(place, described, body);
  }
});
