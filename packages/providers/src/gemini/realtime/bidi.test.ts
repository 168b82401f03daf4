import { expect, test } from 'bun:test';
import { bidi } from './bidi';

const read = (frame: object) => bidi.createReader().readCaller(JSON.stringify(frame));
const FILE = { fileData: { fileUri: 'files/abc' } };

test.each([
  ['clientContent.turns[0].parts[0].fileData.fileUri', { clientContent: { turns: [{ parts: [FILE] }] } }],
  ['systemInstruction.parts[0].fileData.fileUri', { setup: { systemInstruction: { parts: [FILE] } } }],
  ['cachedContent', { setup: { cachedContent: 'cachedContents/abc' } }],
  // A word in a text makes no other frame of it.
  [
    'clientContent.turns[0].parts[1].fileData.fileUri',
    { clientContent: { turns: [{ parts: [{ text: 'realtimeInput' }, FILE] }] } },
  ],
])('%s may be of another project, and is refused', (place, frame) => {
  expect(() => read(frame)).toThrow(`"${place}" names stored content`);
});

test('a caller’s own words and sounds pass', () => {
  expect(read({ clientContent: { turns: [{ parts: [{ text: 'files/abc' }] }] } })).toBeUndefined();
  expect(read({ realtimeInput: { audio: { data: 'AAAA', mimeType: 'audio/pcm' } } })).toBeUndefined();
  expect(read({ setup: { model: 'models/gemini-live' } })).toMatchObject({ type: 'settings' });
});
