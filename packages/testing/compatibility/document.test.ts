import { expect, test } from 'bun:test';
import { DOCUMENT, renderDocument } from './render-document';

test('docs/compatibility.md says what the tests prove (`bun run compatibility` writes it)', async () => {
  expect(await Bun.file(DOCUMENT).text()).toBe(renderDocument());
});
