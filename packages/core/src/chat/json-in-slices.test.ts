import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { parseJsonInSlices, parseJsonPieces } from './json-in-slices';
import { digestJsonInSlices, stringifyJsonInSlices } from './write-json-in-slices';

const MIB = 1024 * 1024;
const write = async (value: unknown) => (await stringifyJsonInSlices(value)).text();
/** Padding that makes any document a large one. */
const PAD = 'p'.repeat(300_000);

/** The most work between two turns of the loop, in milliseconds of processor time: others may be busy. */
async function worstBlock(run: () => Promise<unknown>): Promise<number> {
  let worst = 0;
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = process.threadCpuUsage();
    worst = Math.max(worst, (now.user + now.system - last.user - last.system) / 1000);
    last = now;
  }, 1);
  await run();
  await Bun.sleep(2);
  clearInterval(timer);
  return worst;
}

/** The least of up to three: a neighbour on the same core makes work longer, but never shorter. */
async function calmestBlock(run: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3 && least >= 50; i++) least = Math.min(least, await worstBlock(run));
  return least;
}

const LARGE: Readonly<Record<string, () => unknown>> = {
  'one string': () => ({ a: 'x'.repeat(19 * MIB) }),
  'one string of escapes': () => ({ a: 'a line\n"\\\u0001é日😀'.repeat(MIB) }),
  'many messages': () => Array.from({ length: 12_000 }, (_, i) => ({ role: 'user', content: 'word '.repeat(300), i })),
  'many strings': () => ({ input: Array.from({ length: 99_000 }, (_, i) => `some text ${i} `.repeat(10)) }),
  pictures: () => [1, { url: 'A'.repeat(5 * MIB) }, [{ url: 'B'.repeat(5 * MIB) }], null],
  'a wide object': () =>
    Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`name ${i}`, { v: 'x'.repeat(300) }])),
};

describe('large JSON, in turns', () => {
  test.each(Object.entries(LARGE))(
    '%s is read and written as by the runtime, and holds nobody up',
    async (_name, make) => {
      const value = make();
      const text = JSON.stringify(value);
      expect((await write(value)) === text).toBe(true);
      expect(Bun.deepEquals(await parseJsonInSlices(text), value)).toBe(true);
      expect(await calmestBlock(() => parseJsonInSlices(text))).toBeLessThan(50);
      expect(await calmestBlock(() => stringifyJsonInSlices(value))).toBeLessThan(50);
    },
  );

  test('any value comes back as it was, however it is laid out', async () => {
    const value = fc.jsonValue({ maxDepth: 4 }).map((json) => ({ head: json, pad: PAD, tail: [json, json] }));
    const space = fc.constantFrom(undefined, 1, '\t', '\r\n ');
    await fc.assert(
      fc.asyncProperty(value, space, async (given, indent) => {
        const text = JSON.stringify(given, null, indent);
        const expected = JSON.parse(text);
        expect(Bun.deepEquals(await parseJsonInSlices(text), expected, true)).toBe(true);
        expect(await write(given)).toBe(JSON.stringify(given));
      }),
      { numRuns: runs(60) },
    );
  });

  test('any chunking of a text gives the same value', async () => {
    const text = JSON.stringify({ a: ['é"\\\n'.repeat(20_000), 1.5e-7, true, null, { b: [] }], c: PAD });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 40 }), async (cuts) => {
        const ends = [...cuts.sort((a, b) => a - b), text.length];
        const pieces = (async function* () {
          for (const [index, end] of ends.entries()) yield text.slice(ends[index - 1] ?? 0, end);
        })();
        expect(Bun.deepEquals(await parseJsonPieces(pieces), JSON.parse(text), true)).toBe(true);
      }),
      { numRuns: runs(40) },
    );
  });

  test('a digest tells apart what differs by a half of a character, or by where a string ends', async () => {
    const texts = [PAD, `${PAD}\ud800`, `${PAD}\ud801`, `${PAD}\ufffd`, `${PAD}"`, `${PAD}\\"`, `${PAD}","p`];
    const values = [...texts.map((text) => ({ a: text, b: 'p' })), { a: PAD }, [PAD, 'p'], [`${PAD}p`]];
    const digests = await Promise.all(values.map((value) => digestJsonInSlices(value)));
    expect(new Set(digests).size).toBe(values.length);
    expect(await digestJsonInSlices({ a: PAD, b: 'p' })).toBe(digests[0] ?? '');
  });

  test('invalid expressions are refused anywhere', async () => {
    const good = JSON.stringify({ a: [1, { b: PAD }, 'c', [PAD, PAD]], d: PAD, e: {} });
    const places = [
      0,
      1,
      5,
      8,
      20,
      300_030,
      300_040,
      good.length - 300_020,
      good.length - 8,
      good.length - 1,
      good.length,
    ];
    let refused = 0;
    for (const at of places) {
      for (const wrong of [',', ']', '}', '"', ':', '[', '\n', '\\', 'x', '1', '{}', ',,']) {
        const text = good.slice(0, at) + wrong + good.slice(at);
        const whole = () => JSON.parse(text) as unknown;
        let expected: unknown;
        try {
          expected = whole();
        } catch {
          refused += 1;
          await expect(parseJsonInSlices(text)).rejects.toThrow(SyntaxError);
          continue;
        }
        expect(Bun.deepEquals(await parseJsonInSlices(text), expected)).toBe(true);
      }
    }
    expect(refused).toBeGreaterThan(60);
  });

  test('a long name stands beside short members', async () => {
    const value = { a: 'x'.repeat(300_000), ['n'.repeat(50_000)]: 1, b: [true, null], c: '"'.repeat(100_000) };
    expect(await parseJsonInSlices(JSON.stringify(value))).toEqual(value);
  });

  test('names of prototypes are names, the last of equal ones counts, and what is undefined is left out', async () => {
    const text = `{"__proto__":{"x":1},"a":1,"pad":"${PAD}","a":2,"constructor":3}`;
    const parsed = (await parseJsonInSlices(text)) as Record<string, unknown>;
    expect(Object.keys(parsed)).toEqual(['__proto__', 'a', 'pad', 'constructor']);
    expect([parsed.a, Object.getPrototypeOf(parsed) === Object.prototype]).toEqual([2, true]);
    const holes = { a: undefined, b: [undefined, PAD], c: { d: undefined }, e: PAD };
    expect(await write(holes)).toBe(JSON.stringify(holes));
  });
});
