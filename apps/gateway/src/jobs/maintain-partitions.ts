import { ensurePartitionsAhead } from '@llm0/drizzle/queries/logs/partitions';
import type { Job } from './job';

/** Creates a week of partitions ahead; the log insert creates any other day's. */
export const maintainPartitions: Job = {
  name: 'maintain_partitions',
  intervalMs: 3_600_000,
  async run({ db, nowMs }) {
    const days = await ensurePartitionsAhead(db, nowMs());
    return { message: days.length === 0 ? 'all there' : `made ${days.join(', ')}`, metadata: { made: days.length } };
  },
};
