// Runs in a process of its own, so that the client's CPU is not the server's. Job as JSON in argv, result as JSON line.
import autocannon from 'autocannon';
import { Latencies, type Percentiles } from './histogram';

export interface LoadJob {
  readonly url: string;
  readonly apiKey: string;
  readonly connections: number;
  readonly seconds: number;
  readonly stream: boolean;
  /** Every request asks something new, so that no cache can answer it. */
  readonly unique: boolean;
  readonly model: string;
  readonly expectStatus: number;
  /** Fixed rate in requests per second over all connections; absent = as fast as it goes. */
  readonly rate?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly latencyMs: Percentiles | null;
  /** Time to first byte; streams only. */
  readonly ttfbMs: Percentiles | null;
  /** Answers with another status than expected, and connection errors. */
  readonly errors: number;
}

let counter = 0;

function body(job: LoadJob): string {
  const text = job.unique ? `question ${process.pid}-${counter++}` : 'the same question';
  return JSON.stringify({ model: job.model, stream: job.stream, messages: [{ role: 'user', content: text }] });
}

async function loadPlain(job: LoadJob): Promise<LoadResult> {
  const latencies = new Latencies();
  let errors = 0;
  const fixed = body(job);
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const loadOptions: autocannon.Options = {
    url: `${job.url}/v1/chat/completions`,
    method: 'POST',
    connections: job.connections,
    duration: job.seconds,
    overallRate: job.rate,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${job.apiKey}` },
    ...(job.unique
      ? { requests: [{ setupRequest: (request: autocannon.Request) => ({ ...request, body: body(job) }) }] }
      : { body: fixed }),
  };
  const instance = autocannon(loadOptions, (error: unknown, outcome) => (error ? reject(error) : resolve(outcome)));
  instance.on('response', (_client, status, _bytes, responseTime) => {
    if (status === job.expectStatus) latencies.add(responseTime);
    else errors += 1;
  });
  const result = await promise;
  return {
    requests: latencies.count,
    requestsPerSecond: latencies.count / result.duration,
    latencyMs: latencies.percentiles(),
    ttfbMs: null,
    errors: errors + result.errors,
  };
}

/** autocannon has no time to first byte: streams are read by a small client of our own. */
async function loadStreams(job: LoadJob): Promise<LoadResult> {
  const latencies = new Latencies();
  const firstBytes = new Latencies();
  let errors = 0;
  const startMs = performance.now();
  const endMs = startMs + job.seconds * 1000;
  const client = async () => {
    while (performance.now() < endMs) {
      const askedMs = performance.now();
      const answer = await fetch(`${job.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${job.apiKey}` },
        body: body(job),
      });
      let first = true;
      let last: Uint8Array | undefined;
      for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
        if (first) firstBytes.add(performance.now() - askedMs);
        first = false;
        last = chunk;
      }
      const complete = Buffer.from(last ?? [])
        .toString()
        .trimEnd()
        .endsWith('[DONE]');
      if (answer.status === job.expectStatus && complete) latencies.add(performance.now() - askedMs);
      else errors += 1;
    }
  };
  await Promise.all(Array.from({ length: job.connections }, client));
  return {
    requests: latencies.count,
    requestsPerSecond: latencies.count / ((performance.now() - startMs) / 1000),
    latencyMs: latencies.percentiles(),
    ttfbMs: firstBytes.percentiles(),
    errors,
  };
}

if (import.meta.main) {
  const job = JSON.parse(process.argv[2] ?? '{}') as LoadJob;
  console.log(JSON.stringify(await (job.stream ? loadStreams(job) : loadPlain(job))));
  process.exit(0);
}
