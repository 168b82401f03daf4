import { makeCustomerHours } from '@llm0/drizzle/queries/customer-hours';
import type { Job } from './job';

const HOURS_A_RUN = 4;

/** Adds up hours that are over by customer, and again those that rows came to since; after an upgrade those of 8 days. */
export const sumCustomerHours: Job = {
  name: 'sum_customer_hours',
  intervalMs: 20_000,
  async run({ db, nowMs }) {
    const hours = await makeCustomerHours(db, nowMs(), HOURS_A_RUN);
    const shown = hours.map((startMs) => `${new Date(startMs).toISOString().slice(0, 13)}:00Z`);
    return shown.length === 0 ? null : { message: `added up the hours of ${shown.join(', ')}` };
  },
};
