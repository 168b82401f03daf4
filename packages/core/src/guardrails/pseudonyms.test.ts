import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { namesIn, type PseudonymScope, Pseudonyms } from './pseudonyms';
import { TextWindow } from './text-window';

const secret = new Uint8Array(32).fill(7);
const project = (customerId: string): PseudonymScope => ({ kind: 'project', secret, customerId });
const restored = (names: Pseudonyms, pieces: readonly string[]): string => {
  const window = new TextWindow([{ detector: names.detector(), folding: 'none' }], (_, name) => names.originalOf(name));
  return pieces.map((piece) => window.push(piece)).join('') + window.flush();
};

describe('names that stand for what a vendor must not see', () => {
  test('are numbered within a request, and the same for the same thing', () => {
    const names = new Pseudonyms({ kind: 'request' });
    expect([names.nameOf('email', 'a@x.y'), names.nameOf('email', 'b@x.y'), names.nameOf('email', 'a@x.y')]).toEqual([
      ...['<EMAIL_1>', '<EMAIL_2>', '<EMAIL_1>'],
    ]);
  });

  test('never are what a text has by itself', () => {
    const names = new Pseudonyms({ kind: 'request' }, (name) => name === '<EMAIL_1>');
    expect(names.nameOf('email', 'a@x.y')).toBe('<EMAIL_2>');
  });

  test('are the same in every request of a customer, and another for everybody else', () => {
    const name = (scope: PseudonymScope) => new Pseudonyms(scope).nameOf('email', 'a@x.y');
    expect(name(project('ann'))).toBe(name(project('ann')));
    expect(name(project('ann'))).not.toBe(name(project('bob')));
    expect(name(project('ann'))).not.toBe(name({ ...project('ann'), secret: new Uint8Array(32) } as PseudonymScope));
  });

  test('lead back wherever an answer is cut, and names of nobody stay', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200)), (cuts) => {
        const names = new Pseudonyms({ kind: 'request' });
        const [ann, card] = [names.nameOf('email', 'ann@x.y'), names.nameOf('card', '4111')];
        const text = `Dear ${ann}, <b>your</b> card ${card}${ann} and <EMAIL_9> < ${ann.slice(0, 4)}`;
        const places = [...new Set(cuts.map((cut) => cut % text.length))].sort((a, b) => a - b);
        const pieces = [0, ...places].map((from, index) => text.slice(from, places[index]));
        expect(restored(names, pieces)).toBe('Dear ann@x.y, <b>your</b> card 4111ann@x.y and <EMAIL_9> < <EMA');
      }),
    );
  });
});

test('finds names anywhere in a text', () => {
  expect([...namesIn('a <EMAIL_1>, <<CARD_2> <EMAIL_1> <email_3> <A_B_4ab> <X> <EMAIL_5')]).toEqual([
    ...['<EMAIL_1>', '<CARD_2>', '<A_B_4ab>'],
  ]);
});
