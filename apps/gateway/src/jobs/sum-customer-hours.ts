import { makeCustomerHours } from '@llm0/drizzle/queries/customer-hours';
import type { Job } from './job';

const HOURS_A_RUN = 12;
/** After that long the next hour is left to the next run: a busy one takes seconds, and a core of Postgres with it. */
const RUN_MS = 1000;

/** Adds up hours that are over by customer, and again those that rows came to since; after an upgrade those of 8 days. */
export const sumCustomerHours: Job = {
  name: 'sum_customer_hours',
  intervalMs: 20_000,
  async run({ db, nowMs }) {
    const endMs = performance.now() + RUN_MS;
    const hours: string[] = [];
    while (hours.length < HOURS_A_RUN && performance.now() < endMs) {
      const [startMs] = await makeCustomerHours(db, nowMs(), 1);
      if (startMs === undefined) break;
      hours.push(`${new Date(startMs).toISOString().slice(0, 13)}:00Z`);
    }
    return hours.length === 0 ? null : { message: `added up the hours of ${hours.join(', ')}` };
  },
};
