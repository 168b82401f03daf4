import { expect, test } from 'bun:test';
import { withoutEnd } from './without-end';

test.each([
  ['what?!', 'what'],
  ['?!', ''],
  ['', ''],
  ['a?b', 'a?b'],
  ['no mark', 'no mark'],
])('%p without its marks is %p', (text, expected) => {
  expect(withoutEnd(text, /[?!]/)).toBe(expected);
});
