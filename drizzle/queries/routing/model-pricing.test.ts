import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import type { Database, Db } from '../../client';
import { deletePrice, getPrice, listPrices, putPrice, seedPrices } from './model-pricing';

describe.each(TEST_DATABASES)('model prices on $name', (kind) => {
  let database: Database;
  let db: Db;
  const provider = `p-${crypto.randomUUID()}`;
  const priced = (model: string, input: number): PricedModel => ({
    provider,
    model,
    mode: 'chat',
    prices: { input, output: input * 4, cache_read_above_200k: 7 },
    contextWindow: 128_000,
    capabilities: ['vision'],
  });
  const inputs = async () =>
    Object.fromEntries(
      (await listPrices(db)).filter((row) => row.provider === provider).map((row) => [row.model, row.prices.input]),
    );

  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  test('a seed comes in once by its hash, and never over what an operator wrote or deleted', async () => {
    const hash = crypto.randomUUID();
    const seed = ['a', 'b', 'c', 'd'].map((model) => priced(model, 100));
    expect(await seedPrices(db, seed, hash)).toBe(true);
    expect(await seedPrices(db, seed, hash)).toBe(false);
    await putPrice(db, priced('b', 555));
    expect(await deletePrice(db, { provider, model: 'c' })).toMatchObject({ provider, model: 'c' });
    expect(await deletePrice(db, { provider, model: 'c' })).toBeNull();
    expect(await seedPrices(db, [priced('a', 200), priced('b', 200), priced('c', 200)], `${hash}-2`)).toBe(true);
    expect(await inputs()).toEqual({ a: 200, b: 555 });
    await putPrice(db, priced('c', 1));
    expect(await inputs()).toEqual({ a: 200, b: 555, c: 1 });
  });

  test('a price comes back whole, and exact per 1k tokens', async () => {
    const price = { ...priced('whole', 2_500_000), deprecationDate: '2027-01-01', source: 'https://example.test' };
    await putPrice(db, price);
    expect(await getPrice(db, { provider, model: 'whole' })).toMatchObject({ ...price, edited: true });
    const [row] = await db.execute<{ usd: string }>(
      sql`select input_per_1k_tokens::text as usd from model_pricing where provider = ${provider} and model = 'whole'`,
    );
    expect(row?.usd).toBe('0.002500000');
    expect(await getPrice(db, { provider, model: 'none' })).toBeNull();
  });
});
