import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type JsonObject, noteMembers, writeMembers } from './json';
import { checkJsonBounds } from './json-bounds';

/** Long enough to be worth it. */
const LONG = 'a "quoted" tëxt 🎈\n'.repeat(3000);

function read(text: string): JsonObject {
  const value = JSON.parse(text) as JsonObject;
  const seen = checkJsonBounds(text);
  if (seen !== undefined) noteMembers(value, text, seen);
  return value;
}

describe('members of a body that goes on', () => {
  test('stay as they were written, but for those that changed, came or went', () => {
    const text = `{ "model": "a", "seed": 12345678901234567890, "big\\u0020": [1.0, 1e400],\n "messages": [${JSON.stringify(LONG)}] , "gone": 1}`;
    const original = read(text);
    const { gone: _gone, ...rest } = original;
    const written = writeMembers({ ...rest, model: 'b', stream: true, none: undefined as never }, original);
    expect(written).toBe(
      `{"model":"b", "seed": 12345678901234567890, "big\\u0020": [1.0, 1e400],\n "messages": [${JSON.stringify(LONG)}] ,"stream":true}`,
    );
  });

  test('go on as they came, spaces and all, where nothing changed', () => {
    const text = ` { "model": "a", "n": 1.0 , "messages": [${JSON.stringify(LONG)}] }\n`;
    const original = read(text);
    expect(writeMembers({ ...original }, original)).toBe(text);
    const { n: _n, ...less } = original;
    expect(writeMembers(less, original)).toBe(`{ "model": "a", "messages": [${JSON.stringify(LONG)}] }`);
    expect(writeMembers({}, original)).toBe('{}');
  });

  test.each([
    ['outside', `{"a":1,"a":2,"text":${JSON.stringify(LONG)}}`],
    ['inside', `{"list":[{"a":1,"\\u0061":2}],"text":${JSON.stringify(LONG)}}`],
  ])('are written anew where a name stands twice %s: others may read the first', (_where, text) => {
    const original = read(text);
    expect(writeMembers({ ...original }, original)).toBe(JSON.stringify(JSON.parse(text)));
  });

  test('are written anew where the body is another', () => {
    const original = read(`{"text":${JSON.stringify(LONG)}, "x": 1.0}`);
    const judged = { ...original };
    expect(writeMembers(judged, judged)).toBe(JSON.stringify(judged));
    expect(writeMembers(judged, undefined)).toBe(JSON.stringify(judged));
  });

  test('say what JSON.stringify says, whatever they are and however they are spaced', () => {
    const space = fc.constantFrom('', ' ', '\n  ');
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), space, space, (given, before, indent) => {
        const whole = { ...given, text: LONG };
        const text = `${before}${JSON.stringify(whole, null, indent)}${before}`;
        const original = read(text);
        const body = { ...original, model: 'changed' };
        expect(JSON.parse(writeMembers(body, original))).toEqual(JSON.parse(JSON.stringify(body)));
      }),
    );
  });
});
