import { describe, expect, test } from 'bun:test';
import { hasLostNames } from './lost-names';

const hasLost = (text: string) => hasLostNames(text, JSON.parse(text));

describe('names of a JSON text that are in nothing read of it', () => {
  test.each([
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"x":[{"b":{"c":":","c":"\\"c\\":"}}]}',
    '{"__proto__":1,"__proto__":2}',
    `{"long":"${'x'.repeat(600_000)}","a":1,"a":2}`,
  ])('%#', async (text) => {
    expect(await hasLost(text)).toBe(true);
  });

  test.each([
    '{}',
    '[1,"a:b",null]',
    '"::"',
    '{"a":{"a":{"a":":"}},"b":[{"a":1},{"a":2}]}',
    '{ "a\\"" : "\\\\" , "a\\\\" : "\\":\\"" }',
    '{"__proto__":{"a":1},"1":2}',
    `{"long":"${'\\":'.repeat(300_000)}","a":1}`,
  ])('none: %#', async (text) => {
    expect(await hasLost(text)).toBe(false);
  });

  test('text beside the checked part', async () => {
    expect(await hasLostNames('{"a":1,"zz":2}', { a: 1 })).toBe(true);
  });
});
