import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { csvCell, csvLine, Digits } from './csv';

describe('a cell of a CSV file', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['-2+3+cmd|calc', "'-2+3+cmd|calc"],
    ['-5', "'-5"],
    ['+49 30', "'+49 30"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', `"'\t=1"`],
    ['\n=1', `"'\n=1"`],
    [' =1', "' =1"],
    ['\u200b\u00a0-1', "'\u200b\u00a0-1"],
    ['\uff1d1', "'\uff1d1"],
    ['a;=1', '"a;=1"'],
    ['a "b", c\nd', '"a ""b"", c\nd"'],
    ['gpt-4o', 'gpt-4o'],
  ])('is text that is not run: %j', (text, cell) => {
    expect(csvCell(text)).toBe(cell);
  });

  test.each([
    [-5, '-5'],
    [new Digits('-0.500000000'), '-0.500000000'],
    [0, '0'],
    [null, ''],
    [undefined, ''],
    [true, 'true'],
    [['=1'], '"[""=1""]"'],
  ])('is what it is by its type: %p', (value, cell) => {
    expect(csvCell(value)).toBe(cell);
  });

  test('no text begins with what is run, and every text can be read again', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (texts) => {
        const cells = texts.map((text) => csvCell(text));
        for (const cell of cells) expect(cell.replace(/^"/, '')).not.toMatch(/^[=+\-@\t\r\n]/);
        const read = cells.map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
        expect(read.map((text) => text.replace(/^'/, ''))).toEqual(texts.map((text) => text.replace(/^'/, '')));
        expect(csvLine(texts)).toBe(cells.join(','));
      }),
    );
  });
});
