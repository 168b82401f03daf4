import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runs } from '@llm0/testing/lane';
import { threadMs } from '@llm0/testing/thread-time';
import fc from 'fast-check';
import { declareTools } from './declare-tools';
import { declareType } from './declare-type';
import { commentOf } from './declared-text';
import type { HostedTool } from './tool-host';

const folder = mkdtempSync(join(tmpdir(), 'declarations-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ALL = { toolCharacters: 1400, characters: 1_000_000 };
const declare = (tools: readonly HostedTool[], options = ALL) => declareTools(tools, options).text;
const tool = (given: Partial<HostedTool>): HostedTool => ({
  ...{ server: 'demo', name: 'run', description: '', inputSchema: { type: 'object' } },
  ...given,
});

/** A declaration and nothing else: what is left of it when types are taken away is nothing. */
function expectOnlyTypes(text: string): void {
  expect(new Bun.Transpiler({ loader: 'ts' }).transformSync(text).trim()).toBe('');
  expect(text.startsWith('declare const tools: {')).toBe(true);
}

/** The TypeScript compiler itself has nothing to say. */
function expectTypeScript(texts: readonly string[]): void {
  const files = texts.map((text, index) => {
    const path = join(folder, `${index}.ts`);
    writeFileSync(path, `export {};\n${text}\n`);
    return path;
  });
  const tsc = new URL('../../../../node_modules/typescript/lib/tsc.js', import.meta.url).pathname;
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--pretty',
    'false',
    '--target',
    'es2022',
    '--ignoreConfig',
  ];
  const { stdout } = Bun.spawnSync([process.execPath, '--no-env-file', tsc, ...options, ...files], { cwd: folder });
  expect(stdout.toString()).toBe('');
}

describe('types of schemas', () => {
  const cases: readonly (readonly [schema: unknown, type: string])[] = [
    [true, 'unknown'],
    [false, 'never'],
    [{}, 'unknown'],
    [null, 'unknown'],
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'string', nullable: true }, 'string | null'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { type: ['string', 'number'] } }, 'Array<string | number>'],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false }, '[string, number]'],
    [{ enum: ['a', 1, null, true] }, '"a" | 1 | null | true'],
    [{ const: 'x"y' }, '"x\\"y"'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: false }, '{}'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, '{\n  a: string;\n}'],
    [{ properties: { 'a-b': { type: 'string' } } }, '{\n  "a-b"?: string;\n}'],
    [{ allOf: [{ type: 'string' }, { enum: ['a', 'b'] }] }, 'string & ("a" | "b")'],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'boolean' } } }, 'boolean'],
    [{ $ref: 'https://example.com/schema.json' }, 'unknown'],
    [{ $ref: '#/constructor/prototype' }, 'unknown'],
    [{ enum: Array.from({ length: 100 }, (_, n) => `value ${n}`) }, 'string'],
    [{ const: 'x'.repeat(1000) }, 'string'],
    [{ const: Number.POSITIVE_INFINITY }, 'number'],
    [{ type: 'toString' }, 'unknown'],
  ];
  test.each(cases)('%j', (schema, type) => {
    expect(declareType(schema)).toBe(type);
  });

  test('a schema inside itself ends', () => {
    const node = { type: 'object', properties: { next: { $ref: '#' }, other: { $ref: '#/properties/next' } } };
    expect(declareType(node)).toContain('next?:');
    const self: Record<string, unknown> = {
      $ref: '#/$defs/a',
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
    };
    expect(declareType(self)).toBe('unknown');
  });

  test('a giant schema is cut, and quickly', () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`p${n}`, { type: 'string' }]));
    let deep: unknown = { type: 'string' };
    for (let i = 0; i < 10_000; i++) deep = { type: 'object', properties: { deep } };
    const wide = {
      anyOf: Array.from({ length: 50 }, () => ({ anyOf: Array.from({ length: 50 }, () => ({ properties })) })),
    };
    const startedMs = threadMs();
    for (const schema of [{ properties }, deep, wide]) {
      const text = declare([tool({ inputSchema: schema as HostedTool['inputSchema'] })]);
      expect(text.length).toBeLessThan(1500);
      expectOnlyTypes(text);
    }
    expect(threadMs() - startedMs).toBeLessThan(1000);
  });
});

describe('declarations', () => {
  test('of a tool, as a reader would write them', () => {
    const text = declare([
      tool({
        server: 'git-hub',
        name: 'get_issue',
        description: 'Returns\nan issue.',
        inputSchema: {
          type: 'object',
          properties: {
            number: { type: 'integer', description: 'Its number' },
            full: { type: 'boolean', default: true },
          },
          required: ['number'],
        },
        outputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
      }),
    ]);
    expect(text).toBe(`declare const tools: {
  "git-hub": {
    /** Returns an issue. */
    get_issue(args: {
      /** Its number */
      number: number;
      /** (default true) */
      full?: boolean;
    }): Promise<{
      title: string;
    }>;
  };
};`);
  });

  test('names fields that do not fit', () => {
    const tools = Array.from({ length: 5 }, (_, n) => tool({ name: `t${n}`, description: 'x'.repeat(200) }));
    const { text, left } = declareTools(tools, { toolCharacters: 1000, characters: 600 });
    expect(text).toContain('t1(');
    expect(left.map(({ name }) => name)).toEqual(['t2', 't3', 't4']);
  });

  const HOSTILE = [
    '*/ alert(1) /*',
    '**/ /**/ */*/ evil',
    '\n*/\n}; evil(); declare const x: {',
    '\u2028*/ evil() //\u2029',
    '// \r evil()',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a name that looks like code
    '`${evil()}` ${evil()} </script>',
    '\u0000\u001b[31m\u202eright to left\u200b\ufeff',
    '\ud800 half',
    '/*'.repeat(500),
    `${'*'.repeat(299)}/`,
  ];
  test.each(HOSTILE)('%j as description, name, property, value', (text) => {
    const inputSchema = {
      type: 'object',
      properties: {
        [text]: { description: text, enum: [text], default: text },
        plain: { description: text, const: text },
      },
      required: [text],
    };
    const declared = declare([tool({ description: text, inputSchema }), tool({ name: text }), tool({ server: text })]);
    expectOnlyTypes(declared);
    for (const unseen of ['\u202e', '\u200b', '\u0000', '\u001b', '\r']) expect(declared).not.toContain(unseen);
  });

  test('comments are one line, and end where they should', () => {
    const law = fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.nat(300), (text, most) => {
      const comment = commentOf(text, most + 1);
      if (comment === '') return;
      expect(comment).toMatch(/^\/\*\* [^\n\r\u2028\u2029]* \*\/$/);
      expect(comment.indexOf('*/')).toBe(comment.length - 2);
      expect(comment.length).toBeLessThan(2 * most + 20);
    });
    fc.assert(law, { numRuns: runs(2000) });
  });

  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...HOSTILE, 'new', 'get', '__proto__', '1', ''),
  );
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(true, false, null, 7, 'text', {}, [], { $ref: '#' }, { $ref: '#/properties' }),
      fc.record(
        {
          type: fc.oneof(
            fc.constantFrom('string', 'number', 'object', 'array', 'boolean', 'null', 'integer', 'nonsense', 5),
            fc.array(fc.constantFrom('string', 'object', 'array', 'null'), { maxLength: 3 }),
          ),
          description: fc.oneof(anything, fc.constant(5)),
          default: fc.oneof(anything, fc.double()),
          enum: fc.array(fc.oneof(anything, fc.double(), fc.boolean(), fc.constant(null)), { maxLength: 5 }),
          const: fc.oneof(anything, fc.double()),
          properties: fc.dictionary(anything, tie('schema'), { maxKeys: 4 }),
          required: fc.array(anything, { maxLength: 3 }),
          additionalProperties: tie('schema'),
          items: tie('schema'),
          prefixItems: fc.array(tie('schema'), { maxLength: 3 }),
          anyOf: fc.array(tie('schema'), { maxLength: 3 }),
          allOf: fc.array(tie('schema'), { maxLength: 3 }),
          nullable: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    ),
  }));
  const hosted = fc.record(
    {
      ...{ server: anything, name: anything, description: anything },
      ...{ inputSchema: schema, outputSchema: schema },
    },
    { requiredKeys: ['server', 'name', 'description', 'inputSchema'] },
  );

  test("any server's tools become valid TypeScript", () => {
    const samples: string[] = [];
    const law = fc.property(fc.uniqueArray(hosted, { maxLength: 4, selector: ({ name }) => name }), (tools) => {
      const text = declare(tools as readonly HostedTool[]);
      expectOnlyTypes(text);
      if (samples.length < 300) samples.push(text);
    });
    fc.assert(law, { numRuns: runs(1000) });
    expectTypeScript(samples);
  }, 60_000);
});
