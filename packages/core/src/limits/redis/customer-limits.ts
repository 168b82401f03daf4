import type { CustomerLimits } from '../hot-store';

/**
 * A customer's limits as one text, read by `lua/customer_spend.lua`: six numbers ('' = none), what to do beyond them and
 * the downgrade model, then one line a model: name, tab, requests per day.
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
