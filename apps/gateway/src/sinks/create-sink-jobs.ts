import { attachLogDatabase } from '@llm0/drizzle/clickhouse/log-database';
import type { Db } from '@llm0/drizzle/client';
import { beginRows, readLogFloor } from '@llm0/drizzle/queries/clickhouse/log-floor';
import { addSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import type { Logger } from 'pino';
import type { LogDatabaseSetting, SinkSettings } from '../config/sinks';
import type { Job } from '../jobs/job';
import { dropMovedDays } from './drop-moved-days';
import { exportRows } from './export-rows';
import { moveDays } from './move-days';
import { createWritePart, type WriteNeeds } from './write-part';

interface SinkNeeds extends WriteNeeds {
  readonly logDatabase?: LogDatabaseSetting | undefined;
  readonly log: Pick<Logger, 'warn'>;
}

interface Configured {
  readonly logSinks: SinkSettings;
  readonly logDatabase?: LogDatabaseSetting;
}

export const hasSinks = ({ logSinks, logDatabase }: Configured): boolean =>
  logSinks.sinks.length > 0 || logDatabase !== undefined;

const MISSING = 'older rows of the log are in this store alone, and LOG_DATABASE_URL does not name it';

/**
 * One for each sink, so that none waits for another. Rows of requests that follow belong to all of them. The store that
 * answers for the log is one of them, and gets the rows from before too.
 */
export async function createSinkJobs(
  db: Db,
  settings: SinkSettings,
  { logDatabase, log, ...needs }: SinkNeeds,
): Promise<readonly Job[]> {
  const floor = await readLogFloor(db).catch(() => null);
  if (floor !== null && floor.store !== logDatabase?.name) log.warn(floor, MISSING);
  if (logDatabase?.postgresDays !== 0) await beginRows(db, needs.nowMs()).catch(() => {});
  const sinks = logDatabase === undefined ? settings.sinks : [...settings.sinks, logDatabase];
  if (sinks.length === 0) return [];
  const names = sinks.map(({ name }) => name);
  // Without the database, the first look makes up for it.
  await addSinks(db, names).catch(() => {});
  const write = createWritePart(settings, needs);
  const jobs = sinks.map((sink) => exportRows(sink, names, write));
  if (logDatabase === undefined) return jobs;
  const { name, postgresDays } = logDatabase;
  const move = moveDays(logDatabase, attachLogDatabase(db, logDatabase));
  return [...jobs, move, dropMovedDays({ name, postgresDays })];
}
