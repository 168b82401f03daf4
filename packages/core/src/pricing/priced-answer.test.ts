import { expect, test } from 'bun:test';
import { createPriceBook, pricedAnswer } from './price-book';

const model = (name: string, input: number, source?: string) => ({
  ...{ provider: 'openai', model: name, mode: 'chat', prices: { input, output: input }, capabilities: [] },
  ...(source === undefined ? {} : { source }),
});
const PRICES = createPriceBook(
  [model('small', 1), model('large', 9), model('ours', 5, 'operator')],
  new Set(['ollama']),
);

test.each([
  ['the one that was asked', 'small', undefined, 'small'],
  ['which the vendor names', 'small', 'small', 'small'],
  ['a dearer one', 'small', 'large', 'large'],
  ['a cheaper one', 'large', 'small', 'small'],
  ['one that has no price', 'small', 'small-2026-01-01', 'small'],
  ['one without a price for another without', 'nobody', 'nobody-2', undefined],
  ['a priced one for one without', 'nobody', 'large', 'large'],
  ['whoever, at the price that the operator set', 'ours', 'large', 'ours'],
])('an answer is billed as that of %s', (_name, asked, answeredBy, billed) => {
  expect(pricedAnswer(PRICES, { provider: 'openai', model: asked }, answeredBy)?.model).toBe(billed as string);
});

test('a name that a free provider makes up takes nothing from a listed price', () => {
  const prices = createPriceBook([{ ...model('dear', 7), provider: 'ollama' }], new Set(['ollama']));
  expect(pricedAnswer(prices, { provider: 'ollama', model: 'dear' }, 'whatever')?.prices.input).toBe(7);
});
