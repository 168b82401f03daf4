import type { CustomerLimits } from '../hot-store';

/**
 * A customer's limits for `lua/customer_spend.lua`: six numbers ('' = none), action beyond them and downgrade model.
 * One line per model follows: name, tab, requests per day.
 */
export function encodeCustomerLimits(limits: CustomerLimits): string {
  const head = [
    limits.dailySpendNanoUsd,
    limits.monthlySpendNanoUsd,
    limits.perRequestMaxNanoUsd,
    limits.requestsPerMinute,
    limits.requestsPerHour,
    limits.requestsPerDay,
    limits.onLimit,
    limits.downgradeModel ?? '',
  ];
  const models = Object.entries(limits.modelRequestsPerDay).map(([model, perDay]) => `\n${model}\t${perDay}`);
  return head.map((value) => value ?? '').join(' ') + models.join('');
}
