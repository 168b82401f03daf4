import { ensurePartitionsAhead } from '@llm0/drizzle/queries/logs/partitions';
import type { Job } from './job';

/** Keeps a week of partitions ready; the log insert makes any other day's by itself. */
export const maintainPartitions: Job = {
  name: 'maintain_partitions',
  intervalMs: 3_600_000,
  async run({ db, nowMs }) {
    const days = await ensurePartitionsAhead(db, nowMs());
    return { message: days.length === 0 ? 'all there' : `made ${days.join(', ')}`, metadata: { made: days.length } };
  },
};
