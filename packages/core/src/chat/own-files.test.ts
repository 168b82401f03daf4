import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject } from './json';
import { inlineFiles, isOwnFile, OwnFileError, stopAtFile } from './own-files';

const OWN = `file-${'0a'.repeat(16)}`;
const VENDORS = ['file-abc123', 'file_011CNha8iCJcU1wXNR6q4V8w', 'files/abc', `file-${'0A'.repeat(16)}`];
const FILE = { name: 'a.png', type: 'image/png', base64: 'AAAA' };
const never = async (): Promise<never> => {
  throw new Error('nothing is named');
};

test('a body without own files stays the same object, whatever it holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (body) => {
      expect(await inlineFiles(body as JsonObject, never)).toBe(body as JsonObject);
    }),
  );
  for (const id of VENDORS) {
    const body = { messages: [{ content: [{ type: 'file', file: { file_id: id } }] }] };
    expect(await inlineFiles(body, never)).toBe(body);
    expect(isOwnFile(id)).toBe(false);
  }
});

test.each([
  [{ type: 'file', file: { file_id: OWN } }, 'file.file_id'],
  [{ type: 'input_file', file_id: OWN }, 'file_id'],
  [{ type: 'input_image', file_id: OWN, detail: 'low' }, 'file_id'],
  [{ type: 'document', source: { type: 'file', file_id: OWN } }, 'source.file_id'],
  [{ type: 'image', source: { type: 'file', file_id: OWN } }, 'source.file_id'],
])('%j gets its content wherever it stands, and keeps what is beside it', async (part, field) => {
  const places: string[] = [];
  const read = async (id: string, param: string) => {
    places.push(param);
    expect(id).toBe(OWN);
    return FILE;
  };
  const beside = { type: 'text', text: OWN };
  const body = { model: 'm', messages: [beside, { content: [{ type: 'tool_result', content: [part, beside] }] }] };
  const whole = JSON.stringify(await inlineFiles(body, read));
  expect(places).toEqual([`messages[1].content[0].content[0].${field}`]);
  expect(whole).toContain('AAAA');
  expect(whole).not.toContain('"file_id"');
  expect(whole).toStartWith(JSON.stringify({ model: 'm', messages: [beside] }).slice(0, -2));
  expect(JSON.stringify(body)).not.toContain('AAAA');
});

test('decoders stop at own ids, and refuse those of vendors', () => {
  for (const id of [undefined, null, 1]) stopAtFile(id, 'x');
  expect(() => stopAtFile(OWN, 'x')).toThrow(OwnFileError);
  for (const id of VENDORS) expect(() => stopAtFile(id, 'x')).toThrow('Upload the file to /v1/files');
});
