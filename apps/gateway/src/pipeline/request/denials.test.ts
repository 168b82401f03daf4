import { expect, test } from 'bun:test';
import { denial } from './denials';

test("a refusal by a customer's spend limit says the amounts and when it resets", () => {
  const customer = {
    ...{ spentTodayNanoUsd: 480_000_000, dailyLimitNanoUsd: 500_000_000 },
    ...{ spentMonthNanoUsd: 9_990_000_000, monthlyLimitNanoUsd: 10_000_000_000 },
  };
  const messageOf = (reason: 'customer_daily_spend' | 'customer_monthly_spend') =>
    denial({ type: 'denied', reason, nowMs: 0, state: { projectSpentNanoUsd: 0, customer } }).message;
  expect(messageOf('customer_daily_spend')).toBe(
    'This customer reached its spend limit for today: $0.48 of $0.50 is spent. It resets at 00:00 UTC. ' +
      'The operator can raise it.',
  );
  expect(messageOf('customer_monthly_spend')).toBe(
    'This customer reached its spend limit for this month: $9.99 of $10.00 is spent. ' +
      'It resets on the first of the month at 00:00 UTC. The operator can raise it.',
  );
});
