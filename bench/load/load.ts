// Runs in a process of its own, so that the client's CPU is not the server's. Job as JSON in argv, result as a JSON line.
import type { LoadJob, LoadResult } from './load-job';
import { loadWithAutocannon } from './load-with-autocannon';
import { loadClosed, loadOpen } from './load-with-sockets';

/** Questions of one run never come again in another. */
const runId = `${process.pid}-${Date.now().toString(36)}`;

function run(job: LoadJob): Promise<LoadResult> {
  if (job.rate !== undefined) return loadOpen(job, job.rate, runId);
  const onlyStreams = job.requests.every(({ stream }) => stream);
  return onlyStreams ? loadClosed(job, runId) : loadWithAutocannon(job, runId);
}

const result = await run(JSON.parse(process.argv[2] ?? '{}') as LoadJob);
console.log(JSON.stringify(result));
process.exit(0);
