import { expect, test } from 'bun:test';
import type { JsonValue } from '../chat/json';
import { countReferences } from './count-references';

test.each<[string, JsonValue, number]>([
  ['text alone', [{ role: 'user', content: [{ type: 'text', text: 'file_id: x' }] }], 0],
  ['calls and their results', [{ type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } }], 0],
  ['a call of a function', { type: 'function', id: 'c', function: { name: 'f', arguments: '{"file_id":"x"}' } }, 0],
  ['what a schema describes', { tools: [{ name: 'f', input_schema: { properties: { image_url: {} } } }] }, 0],
  ['a picture', { type: 'image_url', image_url: { url: 'https://x.test/a.png' } }, 1],
  ['a film, a recording, a document', [{ video_url: 'x' }, { audio_url: 'x' }, { document_url: 'x' }], 3],
  ['audio with more than its data', { type: 'input_audio', input_audio: { data: 'AA', format: 'wav', x: 1 } }, 1],
  ['an earlier answer’s audio', { role: 'assistant', audio: { id: 'a1' } }, 1],
  ['an item that the vendor keeps', { type: 'item_reference', id: 'msg_1' }, 1],
  ['an item by its id alone', [{ id: 'msg_1' }], 1],
  ['a file in a container', { type: 'container_upload', file_id: 'f' }, 1],
  ['a reference without a name', { type: 'reference' }, 1],
  ['documents of a library', { type: 'reference', reference_ids: [1, 2] }, 1],
  ['nothing', { image: null, id: null }, 0],
])('references in a request: %s', (_name, value, expected) => {
  expect(countReferences(value)).toBe(expected);
});
