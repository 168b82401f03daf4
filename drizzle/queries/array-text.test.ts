import { expect, test } from 'bun:test';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { toArrayText } from './array-text';

test.each(TEST_DATABASES)(
  'any text, number and object is what it was, on $name',
  async ({ open }) => {
    const { db, close } = await open();
    try {
      const text = fc.string({ unit: 'binary', maxLength: 12 }).map((one) => one.replaceAll('\0', '').toWellFormed());
      const strange = fc.constantFrom(
        '',
        'null',
        'NULL',
        '{a,"b"}',
        '\\',
        '"',
        "'",
        ' a ',
        '\n\t\r',
        '😀',
        '\\n',
        '\\u0041',
      );
      const row = fc.record({
        text: fc.option(fc.oneof(text, strange)),
        number: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
        json: fc.option(fc.dictionary(fc.oneof(text, strange), fc.oneof(text, strange, fc.integer(), fc.boolean()))),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
          const column = (name: 'text' | 'number' | 'json') => toArrayText(rows.map((one) => one[name]));
          const found = await db.execute<{ text: string; number: number; json: string }>(sql`
          select r.text, r.number, r.json::text as json from unnest(${column('text')}::text[],
            ${column('number')}::float8[], ${column('json')}::jsonb[]) as r(text, number, json)`);
          const given = rows.map(({ number, ...one }) => ({ ...one, number: number === null ? null : number + 0 }));
          const read = found.map(({ json, ...one }) => ({ ...one, json: json === null ? null : JSON.parse(json) }));
          expect(read as unknown[]).toEqual(JSON.parse(JSON.stringify(given)));
        }),
        { numRuns: 20 },
      );
    } finally {
      await close();
    }
  },
  30_000,
);
