import { describe, expect, test } from 'bun:test';
import { parseUsd } from '@llm0/core/pricing/format-usd';
import fc from 'fast-check';
import { jsonUsd, parseMoneyAsText, parseStored, plainDecimal } from './json-money';

describe('money in JSON', () => {
  test('is written as an exact decimal, never in exponent form', () => {
    expect(JSON.stringify({ a: jsonUsd(1), b: jsonUsd(0), c: jsonUsd(100_000_000), d: jsonUsd(-1_500) })).toBe(
      '{"a":0.000000001,"b":0,"c":0.1,"d":-0.0000015}',
    );
  });

  test('every amount survives writing and reading', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_007_199_254_740_991 }), (nanoUsd) => {
        const text = JSON.stringify({ cost_usd: jsonUsd(nanoUsd) });
        const { cost_usd } = parseMoneyAsText(text) as { cost_usd: string };
        expect(parseUsd(cost_usd)).toBe(nanoUsd);
        expect(JSON.stringify(parseStored(text))).toBe(text);
      }),
    );
  });

  test('only money is kept as text, at any depth', () => {
    expect(parseMoneyAsText('{"n":1.5,"in":[{"budget_usd":1.50,"x_usd_per_million":2e-6}],"cap_usd":null}')).toEqual({
      n: 1.5,
      in: [{ budget_usd: '1.50', x_usd_per_million: '0.000002' }],
      cap_usd: null,
    });
  });

  test.each([
    ['1e-9', '0.000000001'],
    ['1.5E-7', '0.00000015'],
    ['12e2', '1200'],
    ['1.25e1', '12.5'],
    ['-2.5e-1', '-0.25'],
    ['0e0', '0'],
    ['0.1', '0.1'],
    ['1e400', '1e400'],
  ])('%s without its exponent is %s', (text, plain) => {
    expect(plainDecimal(text)).toBe(plain);
  });

  test('a number without its exponent is the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-20, max: 1e20, noNaN: true }), (value) => {
        expect(Number(plainDecimal(value.toExponential()))).toBe(value);
      }),
    );
  });
});
