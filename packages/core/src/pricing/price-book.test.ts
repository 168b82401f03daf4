import { expect, test } from 'bun:test';
import type { PricedModel } from './price-book';
import { createPriceBook, usualMode } from './price-book';

const priced = (model: string, input: number): PricedModel => ({
  ...{ provider: 'openai', model, mode: 'image', prices: { input }, capabilities: [] },
  ...{ contextWindow: 1000, deprecationDate: '2027-01-01' },
});

const book = createPriceBook(
  [priced('gpt-image-2', 5), priced('gpt-image-2-2026-01-01', 7), priced('claude-x', 3)],
  new Set(['ollama']),
);

test('a dated snapshot costs as its model, unless it has a price of its own', () => {
  const snapshot = book.find('openai', 'gpt-image-2-2026-04-21');
  expect(snapshot).toMatchObject({ model: 'gpt-image-2-2026-04-21', prices: { input: 5 }, contextWindow: 1000 });
  expect(snapshot).not.toHaveProperty('deprecationDate');
  expect(book.find('openai', 'gpt-image-2-2026-04-21')).toBe(snapshot as PricedModel);
  // Callers choose the dates: no more than so many are kept.
  for (let year = 1000; year < 2100; year++) expect(book.find('openai', `gpt-image-2-${year}-01-01`)).toBeDefined();
  expect(book.find('openai', 'gpt-image-2-2026-04-21')).not.toBe(snapshot as PricedModel);
  expect(book.find('openai', 'gpt-image-2-2026-01-01')?.prices.input).toBe(7);
  expect(book.find('openai', 'claude-x-20261101')?.prices.input).toBe(3);
  expect(book.isListed('openai', 'gpt-image-2-2026-04-21')).toBe(false);
});

test('no other name takes a price that is not its own', () => {
  for (const name of ['gpt-image-2-mini', 'gpt-image-2-2026', 'gpt-image-2-2026-04-21-preview', 'claude-x-19991231']) {
    expect(book.find('openai', name)).toBeUndefined();
  }
  expect(book.find('azure', 'gpt-image-2-2026-04-21')).toBeUndefined();
  expect(book.find('ollama', 'llama-2026-04-21')?.prices.input).toBe(0);
});

test.each([
  [['input', 'output'], 'chat'],
  [['output_usd_per_million', 'image_usd'], 'chat'],
  [['image_usd'], 'image'],
  [['image_sizes'], 'image'],
  [['input_usd_per_million', 'output_image_usd_per_million'], 'image'],
  [['character_usd_per_million'], 'speech'],
  [['minute'], 'transcription'],
  [['search_usd'], 'rerank'],
  [['session_second_usd'], 'realtime'],
  [['batch_discount'], 'chat'],
])('a model with the prices %j is for %s', (prices, mode) => {
  expect(usualMode(prices)).toBe(mode as ReturnType<typeof usualMode>);
});
