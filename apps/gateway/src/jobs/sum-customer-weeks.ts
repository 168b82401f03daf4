import { makeCustomerWeeks } from '@llm0/drizzle/queries/customer-weeks';
import type { Job } from './job';

/** Adds up weeks that are over by customer, and again those that rows came to since; after an upgrade all that are kept. */
export const sumCustomerWeeks: Job = {
  name: 'sum_customer_weeks',
  intervalMs: 20_000,
  async run({ db, nowMs }) {
    const weeks = await makeCustomerWeeks(db, nowMs(), 1);
    return weeks.length === 0 ? null : { message: `added up the weeks of ${weeks.join(', ')}` };
  },
};
