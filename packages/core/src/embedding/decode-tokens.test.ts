import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { decodeTokenInputs } from './decode-tokens';

test('any text comes back from its tokens; texts stay as they are', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 40 }), async (text) => {
      expect(await decodeTokenInputs([encode(text), text])).toEqual([text, text]);
    }),
  );
});

test('invalid tokens are refused with their position', async () => {
  await expect(decodeTokenInputs(['a', [15339, 99_999_999]])).rejects.toMatchObject({
    kind: 'invalid_request',
    param: 'input.1',
  });
});
