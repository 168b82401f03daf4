import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { boundaryOf, FormDecoder, type FormPart } from './decode-form';

interface Read extends FormPart {
  readonly bytes: string;
}

function decode(boundary: string, chunks: readonly Uint8Array[]): Read[] {
  const read: { part: FormPart; pieces: Uint8Array[]; isOver: boolean }[] = [];
  const decoder = new FormDecoder(boundary, {
    begin: (part) => read.push({ part, pieces: [], isOver: false }),
    data: (bytes) => void read.at(-1)?.pieces.push(bytes),
    end: () => {
      const last = read.at(-1);
      if (last !== undefined) last.isOver = true;
    },
  });
  for (const chunk of chunks) decoder.push(chunk);
  decoder.finish();
  expect(read.every(({ isOver }) => isOver)).toBe(true);
  return read.map(({ part, pieces }) => ({ ...part, bytes: Buffer.concat(pieces).toString('base64') }));
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (let index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? bytes.length;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const parts = fc.array(
  fc.record({
    name: fc.constantFrom('image', 'prompt', 'image[]', 'naïve name'),
    file: fc.option(fc.constantFrom('a.png', 'b c.webp')),
    // Bytes that look like the beginning of a delimiter.
    content: fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 150 }),
        fc.constant(Buffer.from('\r\n--')),
        fc.constant(Buffer.from('\r\n--edge'.slice(0, 5))),
      ),
      { maxLength: 6 },
    ),
  }),
  { maxLength: 5 },
);

describe('a form', () => {
  test('reads as the runtime writes it, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(parts, fc.array(fc.integer({ min: 1, max: 250 }), { minLength: 1 }), async (given, sizes) => {
        const form = new FormData();
        for (const { name, file, content } of given) {
          const bytes = Buffer.concat(content);
          if (file === null) form.append(name, bytes.toString('base64'));
          else form.append(name, new Blob([bytes], { type: 'image/png' }), file);
        }
        const request = new Request('http://h', { method: 'POST', body: form });
        const boundary = boundaryOf(request.headers.get('content-type') ?? '');
        const read = decode(boundary, cut(await request.bytes(), sizes));
        expect(read.map(({ name, fileName, bytes }) => [name, fileName ?? null, bytes])).toEqual(
          given.map(({ name, file, content }) => {
            const bytes = Buffer.concat(content);
            return [name, file, (file === null ? Buffer.from(bytes.toString('base64')) : bytes).toString('base64')];
          }),
        );
      }),
    );
  });

  test('passes each chunk of a file as one piece, and keeps back only the beginning of a delimiter', () => {
    const pieces: [number, boolean][] = [];
    const sink = { begin: () => {}, end: () => {} };
    const decoder = new FormDecoder('edge', {
      ...sink,
      data: ({ byteLength }, isAlone) => void pieces.push([byteLength, isAlone]),
    });
    const push = (text: string) => decoder.push(Buffer.from(text));
    push('--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    for (const text of ['one', 'two\r', '\n--three', 'four\r\n--ed', 'ge--']) push(text);
    decoder.finish();
    expect(pieces).toEqual([3, 3, 9, 4].map((bytes) => [bytes, true]));
  });

  test('ignores what is around it', () => {
    const body = Buffer.from('hello\r\n--b\r\nContent-Disposition: form-data; name=x\r\n\r\n1\r\n--b--\r\nbye');
    expect(decode('b', [body])).toEqual([{ name: 'x', bytes: 'MQ==' }] as never);
  });

  test.each([
    ['a missing end', '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--b\r\n'],
    ['a cut part', '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1'],
    ['nothing', ''],
    ['another boundary', '--c\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--c--'],
    ['no name', '--b\r\nContent-Type: text/plain\r\n\r\n1\r\n--b--'],
    ['endless headers', `--b\r\nContent-Disposition: form-data; name="${'x'.repeat(20_000)}`],
    ['a longer boundary', '--bb\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--bb--'],
  ])('with %s is refused', (_what, body) => {
    expect(() => decode('b', [Buffer.from(body)])).toThrow('The form in the request body');
  });

  test('keeps the semicolons of a name', () => {
    const head = 'Content-Disposition: form-data; name="file"; filename="a;b; name=c.txt"; size=1';
    const bytes = Buffer.from(`--x\r\n${head}\r\n\r\nhi\r\n--x--\r\n`);
    expect(decode('x', [bytes])).toMatchObject([{ name: 'file', fileName: 'a;b; name=c.txt' }]);
  });

  test('needs a boundary', () => {
    expect(boundaryOf('multipart/form-data; boundary="a b"')).toBe('a b');
    for (const type of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary=${'b'.repeat(99)}`,
    ]) {
      expect(() => boundaryOf(type)).toThrow('must name its boundary');
    }
  });
});
