import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import type { Amount } from '@llm0/drizzle/queries/finance/amounts';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin, storeRecords } from '../admin.fixture';
import { sumPromptCaches } from './prompt-cache';

const prices = createPriceBook(
  [
    {
      provider: 'a',
      model: 'm',
      mode: 'chat',
      prices: { input: 1e6, output: 2e6, cache_read: 1e5, cache_write: 1.25e6 },
      capabilities: [],
    },
  ],
  new Set(),
);
const amount = (more: Partial<Amount>): Amount => ({
  ...{ group: 'm', model: { provider: 'a', name: 'm' }, cache: 'miss', requests: 3, costNanoUsd: 0, savedNanoUsd: 0 },
  ...{ modality: 'text', tokensCacheRead: 1000, tokensCacheWrite: 0, ...more },
});

test('savings are the discount on reads minus the surcharge on writes', () => {
  expect(sumPromptCaches([amount({})], prices)).toMatchObject([{ provider: 'a', model: 'm', savedNanoUsd: 900_000 }]);
  expect(sumPromptCaches([amount({ tokensCacheWrite: 1000 })], prices)[0]?.savedNanoUsd).toBe(650_000);
  expect(sumPromptCaches([amount({ tokensCacheRead: 0, tokensCacheWrite: 8 })], prices)[0]?.savedNanoUsd).toBe(-2000);
});

test('a model has one line, whatever the modalities of its answers', () => {
  const sums = sumPromptCaches([amount({}), amount({ modality: 'image', requests: 2, tokensCacheWrite: 8 })], prices);
  expect(sums).toHaveLength(1);
  expect(sums[0]).toMatchObject({ requests: 5, tokensCacheRead: 2000, tokensCacheWrite: 8, savedNanoUsd: 1_798_000 });
});

test('answers of the gateway itself, and models without such tokens, have no part in it', () => {
  const none = [amount({ cache: 'exact' }), amount({ tokensCacheRead: 0 }), amount({ model: null })];
  expect(sumPromptCaches(none, prices)).toEqual([]);
  expect(sumPromptCaches([amount({ model: { provider: 'b', name: 'm' } })], prices)[0]?.savedNanoUsd).toBeNull();
});

describe.each(TEST_DATABASES)('on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  test('rows become models, by project', async () => {
    const { id } = await admin.createProject();
    const record = (tokensCacheRead: number) =>
      sampleRecord({
        tokensCacheWrite: 0,
        projectId: id,
        provider: 'openai',
        finalProvider: 'openai',
        model: 'gpt-x',
        tokensCacheRead,
        createdAtMs: Date.now() - 60_000,
      });
    await storeRecords(admin, [record(100), record(50), record(0)]);
    const { body } = await admin.call('GET', `/stats/prompt-cache?project_id=${id}`);
    expect(body.data).toMatchObject([
      { provider: 'openai', model: 'gpt-x', tokens_cache_read: 150, tokens_cache_write: 0, saved_usd: null },
    ]);
    expect((await admin.call('GET', `/stats/prompt-cache?project_id=${crypto.randomUUID()}`)).body.data).toEqual([]);
  });
});
