import { afterAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CheckWorker } from '../thread/check-worker';
import { compileSchema } from './compile-schema';
import { checkJsonSchema } from './json-schema';
import { judged, patient } from './judged-text.fixture';
import { isSteadySchema } from './schema-cost';

const thread = new CheckWorker();
afterAll(() => thread.stop());

const PERSON = {
  type: 'object',
  properties: { name: { type: 'string', pattern: '^[A-Z]' }, age: { type: 'integer', minimum: 0 } },
  required: ['name'],
  additionalProperties: false,
};
const TREE = {
  $ref: '#/$defs/node',
  $defs: {
    node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } },
  },
};

async function judge(schema: Readonly<Record<string, unknown>>, text: string, signal = patient) {
  return checkJsonSchema({ schema }, thread).judge(judged(text, { on: 'output', part: 'assistant' }), signal);
}

describe('an answer that must fit a schema', () => {
  test.each([
    ['{"name": "Ann", "age": 3}', 0],
    ['{"name": "Ann"}', 0],
    ['{"name": "ann"}', 1],
    ['{"age": 3}', 1],
    ['{"name": "Ann", "more": 1}', 1],
    ['Here it is: {"name": "Ann"}', 1],
    ['', 1],
    ['null', 1],
  ])('%p', async (text, count) => expect(await judge(PERSON, text)).toMatchObject({ count }));

  test('errors quote the schema, never the answer', async () => {
    const { reason } = await judge(PERSON, '{"name": "Ann", "4111111111111111": "secret"}');
    expect(reason).toContain('additional properties');
    expect(reason).not.toMatch(/4111|secret/);
    expect((await judge(PERSON, '{"age": 3}')).reason).toContain('must have the property "name"');
  });

  test('drafts before 2019 keep their meaning', async () => {
    const pair = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'string' }],
      additionalItems: false,
    };
    expect(await judge(pair, '["a"]')).toMatchObject({ count: 0 });
    expect(await judge(pair, '["a", "b"]')).toMatchObject({ count: 1 });
  });

  test('formats are notes, as the standard has them', async () => {
    expect(await judge({ format: 'email' }, '"no address"')).toMatchObject({ count: 0 });
  });

  test('each item is another one exactly where no two are the same', async () => {
    const check = compileSchema({ uniqueItems: true });
    const small = fc.jsonValue({ maxDepth: 2 });
    fc.assert(
      fc.property(fc.array(small, { maxLength: 5 }), (items) => {
        const pairs = items.flatMap((one, i) => items.slice(i + 1).map((other) => Bun.deepEquals(one, other)));
        const text = JSON.stringify(items);
        // JSON has no negative zero.
        fc.pre(!text.includes('-0') && Bun.deepEquals(JSON.parse(text), items));
        expect(check(text) === undefined).toBe(!pairs.some(Boolean));
      }),
    );
    expect(check('[{"a":1,"b":2},{"b":2,"a":1}]')).toBeDefined();
  });
});

describe('a schema that cannot be used', () => {
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['is none', { type: 'strin' }, 'not a schema'],
    ['leads elsewhere', { $ref: 'https://example.com/schema.json' }, "can't resolve reference"],
    ['has an expression that is none', { pattern: '(' }, 'not a schema'],
    ['has an expression that takes exponential time', { pattern: '^(?=a)(a+)+$' }, 'not a schema'],
    ['is too long', { enum: ['x'.repeat(70_000)] }, 'longer than'],
  ])('one that %s', (_, schema, words) => {
    expect(() => checkJsonSchema({ schema })).toThrow(words);
  });
});

describe('slow queries', () => {
  test('expressions take linear time', async () => {
    const startMs = performance.now();
    expect(await judge({ pattern: '^(a+)+$' }, JSON.stringify(`${'a'.repeat(30_000)}!`))).toMatchObject({ count: 1 });
    expect(performance.now() - startMs).toBeLessThan(2000);
  });

  test('a schema that leads back to itself, or grows by what it refers to, is judged in the thread', () => {
    const grows = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`a${i}`, { allOf: Array(2).fill({ $ref: `#/$defs/a${i + 1}` }) }]),
    );
    expect(isSteadySchema(PERSON)).toBe(true);
    expect(isSteadySchema(TREE)).toBe(false);
    expect(isSteadySchema({ $ref: '#/$defs/a0', $defs: { ...grows, a30: {} } })).toBe(false);
    expect(isSteadySchema({ properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: { type: 'string' } } })).toBe(true);
  });

  test('there it is judged alike', async () => {
    expect(await judge(TREE, '{"children": [{"children": []}]}')).toMatchObject({ count: 0 });
    expect(await judge(TREE, '{"children": [{"children": [1]}]}')).toMatchObject({ count: 1 });
    expect(await judge(PERSON, JSON.stringify({ name: `A${'a'.repeat(100_000)}` }))).toMatchObject({ count: 0 });
  });

  test('one that never ends is ended with its signal, and the next one is judged', async () => {
    const two = [{ properties: { x: { $ref: '#' } } }, { properties: { x: { $ref: '#' }, y: { type: 'string' } } }];
    const text = `${'{"x":'.repeat(60)}{"x":1,"y":1}${'}'.repeat(60)}`;
    const endless = { type: 'object', anyOf: [...two, ...two] };
    const started = performance.now();
    const both = [judge(endless, text, AbortSignal.timeout(300)), judge(TREE, '{}')];
    await expect(both[0] ?? Promise.resolve()).rejects.toThrow('timed out');
    expect(await both[1]).toMatchObject({ count: 0 });
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
