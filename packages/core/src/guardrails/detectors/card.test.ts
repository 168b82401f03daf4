import { describe, expect, test } from 'bun:test';
import { textsIn } from '../chat/string-tree';
import { foldText } from '../folded-text';
import { findCards } from './card';

const found = (text: string) => {
  const folded = foldText(text, 'digits');
  return findCards
    .find(folded.text, true)
    .map(({ start, end }) => text.slice(folded.originOf(start), folded.endOf(end)));
};

describe('numbers of cards', () => {
  test('any separator of groups', () => {
    for (const mark of ['', ' ', '-', '.', '–', '‑', '−', ' - ', '  ', '/', '_', '·', ',', '\u00a0', '\u2009']) {
      const card = ['4111', '1111', '1111', '1111'].join(mark);
      expect([mark, found(`Pay with ${card}, now`)]).toEqual([mark, [card]]);
    }
    for (const mark of ['\t', '\n', '\r\n', '|', ' | ', '||', '*', '**', '** **', ' * ', '\u2800', '\u1680', '%20']) {
      const card = ['4111', '1111', '1111', '1111'].join(mark);
      expect([mark, found(`Pay with ${card}, now`)]).toEqual([mark, [card]]);
      expect([mark, found(`a%20${card}`)]).toEqual([mark, [card]]);
    }
    for (const behind of ['\n5 items', '\t12', ' | 3 |', '**', '%20x'])
      expect([behind, found(`4111.1111.1111.1111${behind}`)]).toEqual([behind, [`4111.1111.1111.1111`]]);
    const others = [
      '3782 822463 10005',
      '41 11 11 11 11 11 11 11',
      '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
      '٤١١١١١١١١١١١١١١١',
    ];
    for (const card of others) expect(found(`to ${card}.`)).toEqual([card]);
  });

  test('not lists, fractions, paths and ids side by side', () => {
    const none = [
      ...['1 2 3 4 5 6 7 8 9 10 11 12 13 14 15', '0.4111111111111111', '923.4111111111111111', '645237962 466044987'],
      ...['4111\n1111\n1111\n1111\n2222', '4111|1111\t1111|1111', '4111*1111|1111*1111', '1111|4111|1111|1111|1111'],
      ...['M4111.1111 1111.1111', '4111,1111,1111,1111,2222', '4111.1111-1111.1111', '41111111 11111111'],
      ...['1234/5678/9012/3456', '1234%2F5678%2F9012%2F3456', 'a%2F1234%2F5678%2F9012%2F3456'],
    ];
    for (const text of none) expect([text, found(text)]).toEqual([text, []]);
  });

  test('as a number, with a fraction too', () => {
    expect(textsIn({ a: 4111111111111111.5, b: 4111111111111111, c: 5 }).map(({ text }) => found(text)[0])).toEqual(
      expect.arrayContaining(['4111111111111111']),
    );
    expect(textsIn({ n: 4111111111111111.5 }).map(({ text }) => text)).toContain('4111111111111111.5');
  });
});
