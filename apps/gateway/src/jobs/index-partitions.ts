import { indexNextPartition } from '@llm0/drizzle/queries/logs/index-partitions';
import type { Job } from './job';

/** Indexes old partitions after an upgrade, one in each run, so that a shutdown waits for one at most. */
export const indexPartitions: Job = {
  name: 'index_partitions',
  intervalMs: 10_000,
  async run({ db }) {
    const table = await indexNextPartition(db);
    return table === null ? null : { message: `indexed ${table}` };
  },
};
