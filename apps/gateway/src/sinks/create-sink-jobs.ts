import { attachLogDatabase } from '@llm0/drizzle/clickhouse/log-database';
import type { Db } from '@llm0/drizzle/client';
import { addSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import type { LogDatabaseSetting, SinkSettings } from '../config/sinks';
import type { Job } from '../jobs/job';
import { exportRows } from './export-rows';
import { moveDays } from './move-days';
import { createWritePart, type WriteNeeds } from './write-part';

interface SinkNeeds extends WriteNeeds {
  readonly logDatabase?: LogDatabaseSetting | undefined;
}

interface Configured {
  readonly logSinks: SinkSettings;
  readonly logDatabase?: LogDatabaseSetting;
}

export const hasSinks = ({ logSinks, logDatabase }: Configured): boolean =>
  logSinks.sinks.length > 0 || logDatabase !== undefined;

/**
 * One for each sink, so that none waits for another. Rows of requests that follow belong to all of them. The store that
 * answers for the log is one of them, and gets the rows from before too.
 */
export async function createSinkJobs(
  db: Db,
  settings: SinkSettings,
  { logDatabase, ...needs }: SinkNeeds,
): Promise<readonly Job[]> {
  const sinks = logDatabase === undefined ? settings.sinks : [...settings.sinks, logDatabase];
  if (sinks.length === 0) return [];
  const names = sinks.map(({ name }) => name);
  // Without the database, the first look makes up for it.
  await addSinks(db, names).catch(() => {});
  const write = createWritePart(settings, needs);
  const jobs = sinks.map((sink) => exportRows(sink, names, write));
  if (logDatabase === undefined) return jobs;
  return [...jobs, moveDays(logDatabase, attachLogDatabase(db, logDatabase))];
}
