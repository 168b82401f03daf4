import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addUsage, completionTokens, fillUsage, largerUsage, promptTokens, type Usage, ZERO_USAGE } from './usage';

const usage = (given: Partial<Usage>): Usage => ({ ...ZERO_USAGE, ...given });
const GUESS = usage({ inputTokens: 40, outputTokens: 200, reasoningTokens: 50, estimated: true });
const NOTHING = usage({ inputTokens: 40, estimated: true });
const tokens = (of: Usage) => [promptTokens(of), completionTokens(of)];

describe('a side that nobody told is guessed', () => {
  test.each<[string, Partial<Usage>, Usage, readonly number[], Usage['untold']]>([
    ['both are told', { inputTokens: 1000, outputTokens: 3 }, GUESS, [1000, 3], undefined],
    ['no input', { outputTokens: 3, untold: 'input' }, GUESS, [40, 3], 'input'],
    ['an input of 0', { outputTokens: 3 }, GUESS, [40, 3], 'input'],
    ['no output', { inputTokens: 1000, untold: 'output' }, GUESS, [1000, 250], 'output'],
    ['an output of 0 next to content', { inputTokens: 1000 }, GUESS, [1000, 250], 'output'],
    ['an output of 0 next to nothing', { inputTokens: 1000 }, NOTHING, [1000, 0], undefined],
    ['no output next to nothing', { inputTokens: 1000, untold: 'output' }, NOTHING, [1000, 0], 'output'],
    ['less than came', { inputTokens: 1000, outputTokens: 1, untold: 'output' }, GUESS, [1000, 250], 'output'],
    ['more than came', { inputTokens: 1000, outputTokens: 900, untold: 'output' }, GUESS, [1000, 900], 'output'],
    ['a sum alone', { untold: 'both', totalTokens: 1200 }, GUESS, [40, 1160], 'both'],
    ['a sum that is too small', { untold: 'both', totalTokens: 12 }, GUESS, [40, 250], 'both'],
  ])('%s', (_name, told, guess, expected, untold) => {
    const filled = fillUsage(usage(told), () => guess);
    expect([tokens(filled.usage), filled.untold]).toEqual([[...expected], untold]);
    expect(filled.usage.estimated).toBe(untold === undefined ? undefined : true);
    expect([filled.usage.untold, filled.usage.totalTokens]).toEqual([undefined, undefined]);
  });

  test('nothing is counted where both sides are told', () => {
    const guess = () => {
      throw new Error('counted');
    };
    expect(fillUsage(usage({ cacheReadTokens: 1, reasoningTokens: 1, outputTokens: 1 }), guess).untold).toBeUndefined();
  });
});

describe('of two reports', () => {
  test.each<[string, Partial<Usage>, Partial<Usage>, Partial<Usage>]>([
    [
      'the larger side each',
      { inputTokens: 9, outputTokens: 2 },
      { outputTokens: 7 },
      { inputTokens: 9, outputTokens: 7 },
    ],
    [
      'the later one of equals, which says more',
      { inputTokens: 9, outputTokens: 2 },
      { inputTokens: 1, cacheReadTokens: 8, reasoningTokens: 2 },
      { inputTokens: 1, cacheReadTokens: 8, reasoningTokens: 2 },
    ],
    ['a fee stays', { inputTokens: 9, feeNanoUsd: 5 }, { inputTokens: 9 }, { inputTokens: 9, feeNanoUsd: 5 }],
    [
      'the classes of the larger side alone',
      { inputTokens: 4, inputImageTokens: 4, outputImageTokens: 3, units: { images: 1 } },
      { inputTokens: 9, outputTokens: 1, units: { images: 2 } },
      { inputTokens: 9, inputImageTokens: 0, outputImageTokens: 3, units: { images: 2 } },
    ],
    [
      'a side each',
      { inputTokens: 9, untold: 'output' },
      { outputTokens: 7, untold: 'input' },
      { inputTokens: 9, outputTokens: 7 },
    ],
    [
      'a beginning and nothing next to content',
      { inputTokens: 9, outputTokens: 1, untold: 'output' },
      { inputTokens: 9 },
      { inputTokens: 9, outputTokens: 1, untold: 'output' },
    ],
  ])('%s', (_name, before, now, expected) => {
    const { totalTokens: _total, ...larger } = largerUsage(usage(before), usage(now));
    expect(larger).toEqual(usage(expected));
  });

  test('merging two never lowers a side', () => {
    const count = fc.nat(1000);
    const any = fc.record({ inputTokens: count, cacheReadTokens: count, outputTokens: count, reasoningTokens: count });
    fc.assert(
      fc.property(any, any, (a, b) => {
        const [before, now] = [tokens(usage(a)), tokens(usage(b))];
        expect(tokens(largerUsage(usage(a), usage(b)))).toEqual(before.map((one, i) => Math.max(one, now[i] ?? 0)));
      }),
    );
  });
});

test('image tokens and units of several calls add up', () => {
  const sum = addUsage(
    usage({ inputImageTokens: 5, units: { images: 1 } }),
    usage({ outputImageTokens: 7, inputImageTokens: 1, units: { images: 2, seconds: 0.5 } }),
  );
  expect(sum).toEqual(usage({ inputImageTokens: 6, outputImageTokens: 7, units: { images: 3, seconds: 0.5 } }));
  expect(tokens(sum)).toEqual([6, 7]);
  expect(addUsage(usage({}), usage({}))).not.toHaveProperty('units');
  expect(fillUsage(usage({ inputTokens: 5, outputImageTokens: 9 }), () => GUESS).untold).toBeUndefined();
});

test('several calls report usage only if all do', () => {
  const one = usage({ untold: 'both', totalTokens: 100 });
  expect(addUsage(one, usage({ inputTokens: 5, outputTokens: 5 }))).toMatchObject({ untold: 'both', totalTokens: 110 });
  expect(
    addUsage(usage({ inputTokens: 5, untold: 'output' }), usage({ inputTokens: 5, outputTokens: 1 })),
  ).toMatchObject({
    ...{ inputTokens: 10, outputTokens: 1, untold: 'output' },
  });
});
