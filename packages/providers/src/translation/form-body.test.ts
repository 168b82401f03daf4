import { expect, test } from 'bun:test';
import { FormDecoder } from '@llm0/core/forms/decode-form';
import type { FileRest, FormFrame } from '@llm0/core/tasks/task-request';
import fc from 'fast-check';
import { formBody } from './form-body';

type Later = readonly (readonly [name: string, value: string])[];

/** A rest that has arrived, and the fault that is noted. */
function restOf(bytes: Uint8Array, later: Later, frame?: FormFrame) {
  const faults: Error[] = [];
  const rest: FileRest = {
    frame,
    async *open() {
      yield bytes.subarray(0, 3);
      yield bytes.subarray(3);
    },
    later: () => later,
    isSpent: () => false,
    isCutOff: () => false,
    blame: (error) => {
      faults.push(error);
      return error;
    },
    fault: () => faults[0],
  };
  return { rest, faults };
}

const sent = (rest: FileRest) =>
  formBody([
    ['model', 'a-1'],
    ['file', { name: 'a.wav', type: 'audio/wav', pieces: [Buffer.from('head')], rest }],
  ]);

/** How callers write the end of a form: with headers of their own, and with or without the last line end. */
function endOf(boundary: string, later: Later, { header, tail }: { header: string; tail: string }): string {
  const fields = later.map(([name, value]) => {
    return `\r\n--${boundary}\r\n${header}Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
  });
  return `${fields.join('')}\r\n--${boundary}--${tail}`;
}

const fields = fc.array(fc.tuple(fc.constantFrom('language', 'prompt', 'include[]'), fc.string({ maxLength: 20 })), {
  maxLength: 3,
});
const ways = fc.record({
  header: fc.constantFrom('', 'Content-Type: text/plain; charset=utf-8\r\n', 'Content-Length: 2\r\n'),
  tail: fc.constantFrom('', '\r\n', '\r\nbehind the end\r\n'),
});

test('a form that goes on as it comes has the length of its caller, whatever is behind the file', async () => {
  await fc.assert(
    fc.asyncProperty(
      ...([fields, ways, fc.uint8Array({ maxLength: 50 }), fc.integer({ min: 20, max: 70 })] as const),
      async (later, way, bytes, boundaryLength) => {
        const end = endOf('b'.repeat(boundaryLength), later, way);
        const frame = { bytes: bytes.byteLength + Buffer.byteLength(end), boundaryLength };
        const { contentType, body, length } = sent(restOf(bytes, later, frame).rest);
        const given = Buffer.from(await new Response(body).arrayBuffer());
        expect(given.byteLength).toBe(length as number);
        const form = await new Response(given, { headers: { 'content-type': contentType } }).formData();
        const file = form.get('file') as File;
        expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.concat([Buffer.from('head'), bytes]));
        const read: [string, string][] = [];
        for (const [name, value] of form) if (typeof value === 'string') read.push([name, value]);
        expect(read).toEqual([['model', 'a-1'], ...later.map(([name, value]): [string, string] => [name, value])]);
      },
    ),
  );
});

test.each([
  ['without a known length', undefined],
  ['under a boundary so short that files may hold it', { bytes: 100, boundaryLength: 5 }],
])('a form %s goes on in chunks', async (_name, frame) => {
  const { contentType, body, length } = sent(restOf(Buffer.from('bytes'), [['language', 'en']], frame).rest);
  expect(length).toBeUndefined();
  const names: string[] = [];
  const sink = { begin: ({ name }: { name: string }) => void names.push(name), data: () => {}, end: () => {} };
  const decoder = new FormDecoder(contentType.split('boundary=')[1] ?? '', sink);
  decoder.push(await new Response(body).bytes());
  decoder.finish();
  expect(names).toEqual(['model', 'file', 'language']);
});

test.each([
  ['longer than it said', 10],
  ['far shorter than it said', 1_000_000],
])('a form that is %s is its caller’s fault', async (_name, bytes) => {
  const { rest, faults } = restOf(Buffer.from('bytes'), [], { bytes, boundaryLength: 30 });
  await expect(new Response(sent(rest).body).bytes()).rejects.toThrow();
  expect(faults).toMatchObject([{ kind: 'invalid_request' }]);
});
