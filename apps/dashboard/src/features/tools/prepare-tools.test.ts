import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { argFields, besideEachOther, diffLines, markOf, pickAtFirst, readArgs, sortTools } from './prepare-tools';

describe('approved and current version of a tool', () => {
  test('shows what was taken away and what came, in the order of the text', () => {
    const lines = diffLines({ a: 1, b: 2 }, { a: 1, b: 3, c: 4 });
    expect(lines).toEqual([
      { kind: 'same', text: '{' },
      { kind: 'same', text: '  "a": 1,' },
      { kind: 'approved', text: '  "b": 2' },
      { kind: 'seen', text: '  "b": 3,' },
      { kind: 'seen', text: '  "c": 4' },
      { kind: 'same', text: '}' },
    ]);
    expect(diffLines(null, { a: 1 }).every(({ kind }) => kind === 'seen')).toBe(true);
  });

  test('both texts can be read from it, whatever they are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (approved, seen) => {
        const lines = diffLines(approved, seen);
        const textOf = (kind: string) =>
          lines.filter((line) => line.kind === 'same' || line.kind === kind).map(({ text }) => text);
        if (approved !== null) expect(textOf('approved').join('\n')).toBe(JSON.stringify(approved, null, 2));
        if (seen !== null) expect(textOf('seen').join('\n')).toBe(JSON.stringify(seen, null, 2));
        const rows = besideEachOther(lines);
        expect(rows.flatMap((row) => row.approved?.text ?? [])).toEqual(textOf('approved'));
        expect(rows.flatMap((row) => row.seen?.text ?? [])).toEqual(textOf('seen'));
        for (const row of rows) expect(row.approved?.kind === 'same').toBe(row.seen?.kind === 'same');
      }),
    );
  });
});

describe('a form from a schema', () => {
  const schema = {
    type: 'object',
    required: ['path'],
    properties: {
      path: { type: 'string', description: 'Where' },
      depth: { type: 'integer' },
      all: { type: 'boolean' },
      level: { enum: [1, 2] },
      tags: { type: 'array' },
    },
  };

  test('has a field for each argument, by its kind', () => {
    expect(argFields(schema).map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ['path', 'text', true],
      ['depth', 'number', false],
      ['all', 'choice', false],
      ['level', 'choice', false],
      ['tags', 'json', false],
    ]);
    expect(argFields({ type: 'object', properties: null })).toEqual([]);
  });

  test('reads what was typed as the tool takes it, and leaves out what is empty', () => {
    const typed = { path: '1', depth: '2', all: 'false', level: '2', tags: '["a"]' };
    expect(readArgs(schema, typed)).toEqual({ path: '1', depth: 2, all: false, level: 2, tags: ['a'] });
    expect(readArgs(schema, { path: 'a', depth: '' })).toEqual({ path: 'a' });
    expect(() => readArgs(schema, { depth: 'x' })).toThrow('depth must be a number.');
    expect(() => readArgs(schema, { tags: '[' })).toThrow('tags must be JSON.');
  });
});

test('tools that wait come first', () => {
  const tool = (name: string, state: string) => ({ name, state }) as never;
  const sorted = sortTools([tool('b', 'approved'), tool('a', 'gone'), tool('d', 'new'), tool('c', 'changed')]);
  expect(sorted.map(({ name }) => name)).toEqual(['c', 'd', 'b', 'a']);
});

test('a tool without hints is unmarked, and one that may destroy says so', () => {
  const mark = (annotations?: string | Record<string, string | boolean>): string =>
    markOf({ seen: annotations === undefined ? {} : { annotations } });
  expect([mark(), mark({}), mark({ title: 'x' }), mark('odd')]).toEqual([
    ...['unmarked', 'unmarked', 'unmarked', 'unmarked'],
  ]);
  expect([mark({ readOnlyHint: true }), mark({ readOnlyHint: true, destructiveHint: true })]).toEqual([
    ...['read-only', 'read-only'],
  ]);
  expect([mark({ destructiveHint: false }), mark({ destructiveHint: true }), mark({ readOnlyHint: false })]).toEqual([
    ...['writes', 'destructive', 'destructive'],
  ]);
});

test('of a new server nothing that may write or destroy is picked', () => {
  const tool = (name: string, annotations: Record<string, boolean>) => ({ name, seen: { annotations } });
  const tools = [
    tool('look', { readOnlyHint: true }),
    tool('write', { destructiveHint: false }),
    tool('wipe', { destructiveHint: true }),
    tool('silent', {}),
  ];
  expect(pickAtFirst(tools)).toEqual(['look']);
});
