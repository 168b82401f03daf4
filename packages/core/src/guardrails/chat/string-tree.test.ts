import { describe, expect, test } from 'bun:test';
import type { JsonObject, JsonValue } from '../../chat/json';
import { CODINGS } from '../decoders/encodings';
import { replaceTexts, textsIn } from './string-tree';

const EMAIL = 'alice.smith@example.com';
const said = (value: JsonValue) => textsIn(value).map(({ text }) => text);
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** 300 bytes that are no text. */
const PICTURE = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 7) % 256)).toString('base64');
const SIGNATURE = Buffer.from(Array.from({ length: 90 }, (_, index) => (index * 11) % 256)).toString('base64');

describe('texts that look like media', () => {
  test('is read where it is none', () => {
    const texts = [
      ...[`data: ${EMAIL}`, `data:${EMAIL}`, `data:image/png, ${EMAIL}`, `data:image/svg+xml,<svg>${EMAIL}</svg>`],
      ...[
        `data:image/png;base64,${EMAIL}`,
        `DATA:image/png;base64,${EMAIL}`,
        `data:image/png;base64,${PICTURE} ${EMAIL}`,
      ],
      ...[`data:image/4111111111111111;base64,${PICTURE}`, `data:image/png;name=${EMAIL};base64,${PICTURE}`],
      'data:image/png;base64,4111111111111111',
    ];
    for (const text of texts) expect(said({ description: text })).toContain(text);
  });

  test('is not where it is', () => {
    const url = `data:image/png;base64,${PICTURE}`;
    expect(said({ image_url: { url }, source: { data: PICTURE } })).toEqual([]);
  });

  test('is read as the text it is, and written so again', () => {
    for (const type of ['text/plain', 'application/yaml', 'image/svg+xml', 'image/png']) {
      const long = `${EMAIL} ${'a b c '.repeat(100)}`;
      const value = {
        file_data: `data:${type};base64,${base64(long)}`,
        inlineData: { mimeType: type, data: base64(long) },
      };
      expect(said(value)).toContain(long);
      const { file_data, inlineData } = replaceTexts(value, (text) => (text === long ? 'clean' : undefined));
      expect(file_data).toBe(`data:${type};base64,${base64('clean')}`);
      expect(inlineData.data).toBe(base64('clean'));
    }
  });
});

describe('text in other encodings', () => {
  test('a long one in UTF-8 is not taken for another, wherever its beginning is cut', () => {
    for (const head of ['', 'a', 'ab', 'abc']) {
      const cyrillic = `${head}${'АБВ '.repeat(60)}${EMAIL}`;
      expect(said({ data: base64(cyrillic) })).toEqual([cyrillic]);
    }
  });

  const text = `Grüße an ${EMAIL}, €5`;
  test.each(['utf-16le', 'utf-16be', 'windows-1252'] as const)('%s is read, and written so again', (encoding) => {
    const { encode, decode } = CODINGS[encoding];
    for (const lines of ['', '\r\n']) {
      const wrapped = encode(text).toString('base64').replace(/.{76}/g, `$&${lines}`);
      const value = { file_data: `data:text/plain;base64,${wrapped}`, inlineData: { data: wrapped } };
      expect(said(value).filter((one) => one === text)).toHaveLength(2);
      const { file_data, inlineData } = replaceTexts(value, (one) => (one === text ? 'Grüße' : undefined));
      for (const data of [inlineData.data, file_data.slice(file_data.indexOf(',') + 1)])
        expect(decode(Buffer.from(data, 'base64'))).toBe('Grüße');
    }
  });
});

describe('encrypted parts', () => {
  test('is left in its vendor’s blocks', () => {
    const blocks: JsonObject[] = [
      ...[
        { type: 'thinking', thinking: 'hm', signature: SIGNATURE },
        { type: 'tool_use', input: {}, signature: SIGNATURE },
      ],
      ...[
        { type: 'reasoning', encrypted_content: `llm0.${SIGNATURE}` },
        { text: 'x', thoughtSignature: SIGNATURE },
      ],
    ];
    expect(said({ input: blocks })).not.toContain(SIGNATURE);
    expect(said({ input: blocks }).join()).not.toContain(SIGNATURE);
    expect(replaceTexts(blocks, () => 'x')[0]?.signature).toBe(SIGNATURE);
  });

  test('is read anywhere else, and where it does not look like it', () => {
    const places: JsonObject[] = [
      ...[{ metadata: { signature: EMAIL } }, { signature: EMAIL }, { metadata: { thoughtSignature: SIGNATURE } }],
      ...[{ type: 'tool_use', input: { type: 'thinking', signature: SIGNATURE } }, { signature: SIGNATURE }],
      ...[{ functionResponse: { response: { signature: SIGNATURE } } }, { structuredContent: { signature: EMAIL } }],
      ...[
        { type: 'thinking', signature: EMAIL },
        { type: 'thinking', signature: '4111111111111111' },
      ],
    ];
    for (const place of places) {
      const texts = said(place);
      expect([EMAIL, SIGNATURE, '4111111111111111'].some((text) => texts.includes(text))).toBe(true);
    }
  });
});
