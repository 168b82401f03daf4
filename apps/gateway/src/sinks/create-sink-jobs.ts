import type { SinkSettings } from '../config/sinks';
import type { Job } from '../jobs/job';
import { exportRows } from './export-rows';
import { createWritePart } from './write-part';

/** None without sinks. */
export const createSinkJobs = (settings: SinkSettings, dataDir: string): readonly Job[] =>
  settings.sinks.length === 0 ? [] : [exportRows(settings.sinks, createWritePart(settings, dataDir))];
