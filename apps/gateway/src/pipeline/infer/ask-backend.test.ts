import { expect, test } from 'bun:test';
import { inferForEachTest } from './open-infer.fixture';

const open = inferForEachTest();

/** What the runtime's fetch fails with. */
const failing = (code: string) => () => {
  throw Object.assign(new TypeError('fetch failed'), { code });
};

test.each([
  ...['Malformed_HTTP_Response', 'InvalidContentLength', 'UnrequestedUpgrade', 'UnsupportedTransferEncoding'],
])('a backend that answers with %s is there, and answers badly: 502', async (code) => {
  const { ask, world, rows } = await open();
  world.origin = failing(code);
  const answer = await ask('/x');
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([502, null]);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect(error).toMatchObject({ code: 'upstream_error', message: `py answered with what is no HTTP (${code}).` });
  // It may have run.
  expect(await rows()).toMatchObject([{ status: 'error', httpStatus: 502, costNanoUsd: 1000 }]);
});

test.each(['ECONNREFUSED', 'ECONNRESET'])('one that fails with %s is away: 503', async (code) => {
  const { ask, world } = await open();
  world.origin = failing(code);
  expect((await ask('/x')).status).toBe(503);
});
