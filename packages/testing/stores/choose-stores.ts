// Loaded into every test process. Where several run side by side, each has stores of its own.
import { STORES_VARIABLE } from './server-process';

const given = process.env[STORES_VARIABLE];
if (given !== undefined && given !== '') {
  const all: readonly Readonly<Record<string, string>>[] = JSON.parse(given);
  // Absent where one process runs them all; beyond the others where one takes the place of one that crashed.
  const index = Number(process.env.BUN_TEST_WORKER_ID ?? 1) - 1;
  Object.assign(process.env, all[index % all.length]);
}
