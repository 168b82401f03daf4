import { expect, test } from 'bun:test';
import { CleanTexts } from './clean-texts';

test('an identifier is not the text that is written the same', () => {
  const clean = new CleanTexts();
  clean.add({ text: 'model', isId: true });
  expect(clean.has({ text: 'model', isId: true })).toBe(true);
  expect(clean.has({ text: 'model', isId: false })).toBe(false);
  expect(clean.has({ text: 'imodel', isId: true })).toBe(false);
});

test('long texts are not kept', () => {
  const clean = new CleanTexts();
  for (const length of [64, 65]) clean.add({ text: 'x'.repeat(length), isId: false });
  expect(clean.has({ text: 'x'.repeat(64), isId: false })).toBe(true);
  expect(clean.has({ text: 'x'.repeat(65), isId: false })).toBe(false);
});

test('reused entries stay, others are evicted', () => {
  const clean = new CleanTexts();
  clean.add({ text: 'once', isId: false });
  clean.add({ text: 'again', isId: false });
  for (let at = 0; at < 5000; at++) {
    clean.add({ text: `other ${at}`, isId: false });
    expect(clean.has({ text: 'again', isId: false })).toBe(true);
  }
  expect(clean.has({ text: 'once', isId: false })).toBe(false);
});
