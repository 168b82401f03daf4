import type { Db } from '@llm0/drizzle/client';
import { addSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import type { SinkSettings } from '../config/sinks';
import type { Job } from '../jobs/job';
import { exportRows } from './export-rows';
import { createWritePart, type WriteNeeds } from './write-part';

/** One for each sink, so that none waits for another. Rows of requests that follow belong to all of them. */
export async function createSinkJobs(db: Db, settings: SinkSettings, needs: WriteNeeds): Promise<readonly Job[]> {
  const { sinks } = settings;
  if (sinks.length === 0) return [];
  const names = sinks.map(({ name }) => name);
  // Without the database, the first look makes up for it.
  await addSinks(db, names).catch(() => {});
  const write = createWritePart(settings, needs);
  return sinks.map((sink) => exportRows(sink, names, write));
}
