import { makeCustomerHours } from '@llm0/drizzle/queries/customer-hours';
import type { Job } from './job';
import { makeHoursOfRun } from './make-hours';

/** Adds up hours that are over by customer, and again those that rows came to since; after an upgrade those of 8 days. */
export const sumCustomerHours: Job = {
  name: 'sum_customer_hours',
  intervalMs: 20_000,
  async run({ db, nowMs }) {
    const hours = await makeHoursOfRun(() => makeCustomerHours(db, nowMs(), 1));
    return hours.length === 0 ? null : { message: `added up the hours of ${hours.join(', ')}` };
  },
};
