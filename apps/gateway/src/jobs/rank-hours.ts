import { rankHours } from '@llm0/drizzle/queries/ranked-hours';
import type { Job } from './job';
import { makeHoursOfRun } from './make-hours';

/** Ranks the percentiles of hours that are over, and again of those that rows came to since; after an upgrade of 8 days. */
export const rankHoursJob: Job = {
  name: 'rank_hours',
  intervalMs: 20_000,
  async run({ db, nowMs }) {
    const hours = await makeHoursOfRun(() => rankHours(db, nowMs(), 1));
    return hours.length === 0 ? null : { message: `ranked the hours of ${hours.join(', ')}` };
  },
};
