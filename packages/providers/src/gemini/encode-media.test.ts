import { expect, test } from 'bun:test';
import { findStored, isStoredFile } from './encode-media';

test('ids of the Files API are stored files, in every spelling; pages, videos and buckets are not', () => {
  const stored = [
    'https://generativelanguage.googleapis.com/v1beta/files/abc',
    'HTTPS://GenerativeLanguage.googleapis.com./v1/files/abc',
    'https://x@generativelanguage.googleapis.com:443/files/abc',
    'https://generativelanguage.googleapis%2Ecom/files/abc',
    'files/abc',
    '/v1beta/files/abc',
    '',
  ];
  const free = ['https://x.test/a.pdf', 'https://youtu.be/x', 'https://www.youtube.com/watch?v=x', 'gs://b/x.png'];
  expect(stored.map(isStoredFile)).toEqual(stored.map(() => true));
  expect(free.map(isStoredFile)).toEqual(free.map(() => false));
});

test('a stored file is found wherever a part may name it', () => {
  const part = { fileData: { fileUri: 'files/abc', mimeType: 'text/plain' } };
  const free = { fileData: { fileUri: 'gs://b/x' } };
  expect(findStored({ contents: [{ parts: [{ text: 'x' }, free] }, { parts: [part] }] })).toBe(
    'contents[1].parts[0].fileData.fileUri',
  );
  const older = { file_data: { fileUri: 'gs://b/x', file_uri: 'files/abc' } };
  expect(findStored({ contents: { parts: older } })).toBe('contents.parts.file_data.file_uri');
  expect(findStored({ systemInstruction: { parts: [part] } })).toBe('systemInstruction.parts[0].fileData.fileUri');
  const given = { functionResponse: { name: 'f', response: part, parts: [part] } };
  expect(findStored({ contents: [{ parts: [given] }] })).toBe(
    'contents[0].parts[0].functionResponse.parts[0].fileData.fileUri',
  );
  const called = { functionCall: { name: 'f', args: part } };
  expect(findStored({ contents: [{ parts: [called, free, { text: 'files/abc' }] }] })).toBeUndefined();
});

test('cached content is the account’s, in both spellings and in what is only counted; a caller’s own word is not', () => {
  const named = { contents: [], cachedContent: 'cachedContents/abc' };
  expect(findStored(named)).toBe('cachedContent');
  expect(findStored({ cached_content: 'cachedContents/abc' })).toBe('cached_content');
  expect(findStored({ generateContentRequest: named })).toBe('generateContentRequest.cachedContent');
  expect(findStored({ generate_content_request: named })).toBe('generate_content_request.cachedContent');
  expect(findStored({ contents: [], cachedContent: null })).toBeUndefined();
  const schema = { type: 'object', properties: { cachedContent: { type: 'string' } } };
  expect(findStored({ tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }] })).toBeUndefined();
});
