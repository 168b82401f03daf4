import { describe, expect, test } from 'bun:test';
import { droppedNames, headerText } from './response-headers';

const MOST = 1100;

describe('names of dropped parameters in a header', () => {
  test('as they are', () => {
    expect(droppedNames(['n', 'messages[0].id'])).toBe('n,messages[0].id');
  });

  test.each(['bad\nname', 'bad\r\nx-evil: 1', '名', '😀', '\ud83d', '\u0000', 'a,b'])(
    '%j is no way out of it',
    (name) => {
      const shown = droppedNames([name, 'n']);
      expect(shown.split(',')).toHaveLength(2);
      expect(new Headers({ 'x-llm0-dropped': shown }).get('x-llm0-dropped')).toBe(shown);
    },
  );

  test('the header stays short and counts the omitted names', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `messages[0].field${index}`);
    const shown = droppedNames(many);
    expect(shown.length).toBeLessThan(MOST);
    const names = shown.split(',');
    expect(names.at(-1)).toBe(`+${5000 - (names.length - 1)} more`);
    expect(droppedNames(Array.from({ length: 50 }, () => 'x'.repeat(90_000))).length).toBeLessThan(MOST);
    expect(droppedNames(Array.from({ length: 50 }, () => '名'.repeat(90_000))).length).toBeLessThan(MOST);
  });
});

test('a model’s name of characters that take two units', () => {
  expect(headerText('an 😀 \ud83d')).toBe('an %F0%9F%98%80 %EF%BF%BD');
  expect(headerText('a\nb')).toBe('a%0Ab');
  expect(headerText('gpt-5')).toBe('gpt-5');
  expect(headerText('x'.repeat(9000))).toBe('x'.repeat(256));
});
