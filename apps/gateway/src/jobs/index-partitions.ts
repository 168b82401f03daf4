import { indexNextPartition } from '@llm0/drizzle/queries/logs/index-partitions';
import type { Job } from './job';

/** After an upgrade: old partitions get an index that came later, one a run, so that whoever stops waits for one at most. */
export const indexPartitions: Job = {
  name: 'index_partitions',
  intervalMs: 10_000,
  async run({ db }) {
    const table = await indexNextPartition(db);
    return table === null ? null : { message: `indexed ${table}` };
  },
};
