import type { SinkSettings } from '../config/sinks';
import type { Job } from '../jobs/job';
import { exportRows } from './export-rows';
import { createWritePart, type WriteNeeds } from './write-part';

/** None without sinks. */
export const createSinkJobs = (settings: SinkSettings, needs: WriteNeeds): readonly Job[] =>
  settings.sinks.length === 0 ? [] : [exportRows(settings.sinks, createWritePart(settings, needs))];
