import { expect, test } from 'bun:test';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import type { Target } from '@llm0/core/routing/target';
import mix from '../demo-mix.json';
import { DailyLimit } from './demo-failures';
import { makeDemoRecords } from './demo-records';
import { isDuring, tellStory } from './demo-story';

const NOW_MS = Date.UTC(2026, 10, 20, 15);
const projects = mix.projects.map((project) => ({ ...project, id: project.name, keyIds: project.keys }));

/** Numbers that come the same each time. */
function numbers(): () => number {
  let state = 7;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const TIMEOUT_MS = 12_000;
const STAND_IN = { provider: 'gemini', model: 'stand-in' };

/** Nine nano-USD a token for the stand-in, one for the others. */
function priceOf(provider: string, model: string): PricedModel {
  const pico = model === STAND_IN.model ? 9000 : 1000;
  const prices = { input: pico, output: pico, cache_read: pico };
  return { provider, model, mode: 'chat', prices, capabilities: [] };
}

function make(days: number) {
  let id = 0;
  const createId = () => `${++id}`;
  const options = {
    projects,
    prices: { find: priceOf },
    limit: undefined,
    targetsOf: (wanted: Target) => [wanted, STAND_IN],
    nowMs: NOW_MS,
    days,
    requestsADay: 2_000,
    timeoutMs: TIMEOUT_MS,
    random: numbers(),
  };
  return [...makeDemoRecords({ ...options, createId })];
}

test.each([1, 14])('sample data of %d days have an outage and a spike', (days) => {
  const records = make(days);
  const { outage, spike } = tellStory({ nowMs: NOW_MS, days });
  expect(records.every(({ createdAtMs }) => createdAtMs >= NOW_MS - days * 86_400_000 && createdAtMs < NOW_MS)).toBe(
    true,
  );
  expect(records.every(({ createdAtMs }, i) => createdAtMs >= (records[i - 1]?.createdAtMs ?? 0))).toBe(true);
  const asked = records.filter(({ provider, cacheHit, semanticCacheHit }) => {
    return provider === outage.provider && !cacheHit && !semanticCacheHit;
  });
  const during = asked.filter(({ createdAtMs }) => isDuring(outage, createdAtMs));
  const failed = (some: typeof asked) => some.filter(({ httpStatus }) => httpStatus >= 500).length / some.length;
  const elsewhere = (some: typeof asked) => some.filter(({ failoverCount }) => failoverCount > 0).length / some.length;
  expect(during.length).toBeGreaterThan(10);
  expect(failed(during)).toBeGreaterThan(3 * failed(asked.filter((record) => !during.includes(record))));
  expect(elsewhere(during.filter(({ createdAtMs }) => createdAtMs >= outage.openedMs))).toBeGreaterThan(0.6);
  expect(elsewhere(asked)).toBeLessThan(0.2);
  const job = records.filter(({ projectId, apiKeyId }) => projectId === 'Support triage' && apiKeyId === 'batch');
  const hours = (spike.toMs - spike.fromMs) / 3_600_000;
  const rate = job.filter(({ createdAtMs }) => isDuring(spike, createdAtMs)).length / hours;
  expect(rate).toBeGreaterThan(10 * (job.filter(({ createdAtMs }) => createdAtMs < spike.fromMs).length / (days * 24)));
  expect(
    records.every(({ projectId, labels }) => labels?.team === projects.find(({ id }) => id === projectId)?.team),
  ).toBe(true);
});

test('the outage stands out of the error rate of a fortnight', () => {
  const records = make(14);
  const { outage } = tellStory({ nowMs: NOW_MS, days: 14 });
  const quarter = (atMs: number) => Math.floor(atMs / 21_600_000);
  const rates = [...Map.groupBy(records, ({ createdAtMs }) => quarter(createdAtMs))].map(([at, some]) => ({
    at,
    rate: some.filter(({ status }) => status === 'error').length / some.length,
  }));
  const [worst, second] = rates.sort((a, b) => b.rate - a.rate);
  expect(worst?.at).toBe(quarter(outage.fromMs));
  expect(worst?.rate).toBeGreaterThan(2 * (second?.rate ?? 1));
});

test('attempts lie one after the other inside their request, to its first byte', () => {
  for (const { attempts = [], latencyMs, ttftMs, stream, status } of make(1)) {
    let endMs = 0;
    for (const attempt of attempts) {
      expect(attempt.startMs).toBeGreaterThanOrEqual(endMs);
      endMs = attempt.startMs + attempt.latencyMs;
    }
    expect(endMs).toBeLessThanOrEqual(latencyMs);
    if (stream && status === 'success') expect(endMs).toBeLessThanOrEqual(ttftMs ?? 0);
  }
});

test('only a customer that spent its limit is refused, until the next day', () => {
  const at = { projectId: 'Shop assistant', customerId: 'globex' };
  const limit = new DailyLimit({ ...at, dailyNanoUsd: 20 });
  const records = make(3).map((record) => limit.apply({ ...record, costNanoUsd: 1 }));
  const refused = records.filter(({ status }) => status === 'cap_exceeded');
  expect(refused.length).toBeGreaterThan(10);
  expect(refused.every(({ projectId, customerId }) => projectId === at.projectId && customerId === at.customerId)).toBe(
    true,
  );
  const days = Map.groupBy(
    records.filter((one) => one.projectId === at.projectId && one.customerId === at.customerId),
    ({ createdAtMs }) => Math.floor(createdAtMs / 86_400_000),
  );
  for (const some of days.values()) {
    expect(some.slice(0, 20).some(({ status }) => status === 'cap_exceeded')).toBe(false);
    expect(some.slice(20).every(({ status }) => status === 'cap_exceeded')).toBe(true);
  }
});

test('what no provider answered names its cause, and a switch follows the chain', () => {
  const records = make(14);
  const failed = records.filter(({ httpStatus }) => httpStatus >= 500);
  for (const { provider, model, errorMessage } of failed) expect(errorMessage).toStartWith(`${provider}/${model} `);
  const switched = records.filter(({ failoverCount }) => failoverCount > 0);
  expect(switched.length).toBeGreaterThan(10);
  expect(switched.every(({ finalProvider }) => finalProvider === STAND_IN.provider)).toBe(true);
});

test('a time-out lasts as long as its message says', () => {
  const late = make(14).filter(({ errorCode }) => errorCode === 'upstream_timeout');
  expect(late.length).toBeGreaterThan(3);
  for (const { errorMessage, attempts, latencyMs } of late) {
    expect(errorMessage).toEndWith(`did not answer within ${TIMEOUT_MS} ms.`);
    expect(attempts?.map((attempt) => attempt.latencyMs)).toEqual([TIMEOUT_MS]);
    expect(latencyMs).toBeGreaterThan(TIMEOUT_MS);
  }
});

test('the model that answers is the one that is paid', () => {
  const paid = make(14).filter(({ costNanoUsd }) => costNanoUsd > 0);
  const perToken = (some: typeof paid) => new Set(some.map((one) => one.costNanoUsd / (one.tokensIn + one.tokensOut)));
  expect(perToken(paid.filter(({ failoverCount }) => failoverCount > 0))).toEqual(new Set([9]));
  expect(perToken(paid.filter(({ failoverCount }) => failoverCount === 0))).toEqual(new Set([1]));
});
