import autocannon from 'autocannon';
import type { LoadJob, LoadResult } from './load-job';
import { createBodyMaker, createHeaderMaker, createPathMaker, roundOf } from './make-request';
import { Tally } from './tally';

/**
 * As fast as the connections go. autocannon's own percentiles are whole milliseconds, so every `responseTime` is kept;
 * it has no time to first byte.
 */
export async function loadWithAutocannon(job: LoadJob, runId: string): Promise<LoadResult> {
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const nextHeaders = createHeaderMaker(job.callers, job.headers);
  const makers = new Map(
    job.requests.map((shape) => [shape, { body: createBodyMaker(shape, runId), path: createPathMaker(shape, runId) }]),
  );
  const options: autocannon.Options = {
    url: job.url,
    connections: job.connections,
    ...(job.amount === undefined ? { duration: job.seconds } : { amount: job.amount }),
    requests: roundOf(job.requests).map((shape) => ({
      method: shape.method ?? 'POST',
      path: makers.get(shape)?.path(),
      ...(shape.question === 'same' && job.callers.type === 'one'
        ? { headers: nextHeaders(), body: makers.get(shape)?.body() }
        : {
            setupRequest: (request: autocannon.Request) => ({
              ...request,
              path: makers.get(shape)?.path(),
              headers: nextHeaders(),
              body: makers.get(shape)?.body(),
            }),
          }),
    })),
  };
  const tally = new Tally();
  const instance = autocannon(options, (error: unknown, outcome) => (error ? reject(error) : resolve(outcome)));
  instance.on('response', (_client, status, _bytes, responseTime) => {
    if (status === job.expectStatus) tally.latenciesMs.push(responseTime);
    else tally.fail(`status ${status}`);
  });
  instance.on('reqError', () => tally.fail('connection'));
  const { duration } = await promise;
  return tally.result(duration);
}
