import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readEvent } from './read-event';

const OWN = ['type', 'stream_id', 'generate', 'stream', 'store', '__proto__'];
const read = (event: unknown) => readEvent(JSON.stringify(event));

test('a message becomes the body of its POST, which is always a stream', async () => {
  const event = { type: 'response.create', model: 'm', input: 'Hi', store: false, stream: false, generate: true };
  const { body, ...controls } = await read({ ...event, stream_id: 'main' });
  expect(JSON.parse(body)).toEqual({ model: 'm', input: 'Hi', store: false, stream: true });
  expect(controls).toEqual({ type: 'response.create', streamId: 'main', generates: true, stores: false });
  expect(await read({ type: 'response.create', generate: false, stream_id: null })).toMatchObject({
    ...{ generates: false, stores: true, streamId: undefined, body: '{"stream":true}' },
  });
});

test('whatever the fields are, they reach the body as they were written', async () => {
  const name = fc.string().filter((text) => !OWN.includes(text));
  const fields = fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 });
  await fc.assert(
    fc.asyncProperty(fields, fc.nat(6), fc.boolean(), async (given, at, pretty) => {
      const entries = Object.entries(given);
      entries.splice(at, 0, ['type', 'response.create']);
      const { type, body } = await readEvent(JSON.stringify(Object.fromEntries(entries), null, pretty ? 2 : 0));
      expect(type).toBe('response.create');
      expect(JSON.parse(body)).toEqual({ ...JSON.parse(JSON.stringify(given)), stream: true });
    }),
  );
});

test('a long one too, whose text is kept', async () => {
  const input = `${'a"{[\\'.repeat(200_000)}ü`;
  const { type, body } = await read({ model: 'm', input, type: 'response.create' });
  expect([type, JSON.parse(body)]).toEqual(['response.create', { model: 'm', input, stream: true }]);
});

test.each([
  '',
  'hello',
  '[]',
  'null',
  '"{}"',
  '{"type":"response.create"',
  '{"type":"response.create"}}',
  '{"type":"response.create"} x',
  '{"a":[1}',
  '{"a":[1}]',
])('%j is left to the request path, which refuses it', async (text) => {
  expect(await readEvent(text)).toEqual({
    ...{ type: 'response.create', streamId: undefined, generates: true, stores: true, body: text },
  });
});

test.each(['{"type":"response.create",}', '{"type":"response.create","a"}', '{"type":"response.create",,"a":1}'])(
  '%j stays invalid',
  async (text) => {
    const { type, body } = await readEvent(text);
    expect(type).toBe('response.create');
    expect(() => JSON.parse(body)).toThrow();
  },
);

test.each(['{}', '{"type":}', '{"type":response.create}', '{"type":"response.create","generate":no}', '{"type":null}'])(
  '%j has no type',
  async (text) => {
    expect((await readEvent(text)).type ?? undefined).toBeUndefined();
  },
);

test('of a repeated field the last one counts', async () => {
  const { type, generates } = await readEvent('{"type":"a","generate":true,"type":"b","generate":false}');
  expect([type, generates]).toEqual(['b', false]);
});
