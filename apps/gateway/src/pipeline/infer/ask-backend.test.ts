import { describe, expect, test } from 'bun:test';
import { inferForEachTest, START_MS } from './open-infer.fixture';

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
  expect(error).toMatchObject({ code: 'upstream_error', message: `py didn't answer in HTTP (${code}).` });
  // It may have run.
  expect(await rows()).toMatchObject([{ status: 'error', httpStatus: 502, costNanoUsd: 1000 }]);
});

describe('why a backend is not asked is told', () => {
  const answered = async (headers: Record<string, string>, times: number) => {
    const { ask, world, services } = await open();
    world.origin = () => new Response('', { status: 503, headers });
    for (let i = 0; i < times; i++) await (await ask('/x')).text();
    const refused = await ask('/x');
    const { error } = (await refused.json()) as { error: { message: string } };
    expect(world.asked).toHaveLength(times);
    world.origin = () => new Response('well');
    await services.health.restore('infer:py');
    expect(await (await ask('/x')).text()).toBe('well');
    return error.message;
  };

  test('it failed often', async () => {
    expect(await answered({}, 5)).toBe('The backend "py" failed again and again: it is not asked right now.');
  });

  test('it said so, once', async () => {
    const message = await answered({ 'retry-after': '86400' }, 1);
    const [, until = ''] = /^The backend "py" sent Retry-After: the next call is at (.+)\.$/.exec(message) ?? [];
    // An hour at the longest.
    expect(Date.parse(until) - START_MS).toBeWithin(3_590_000, 3_600_001);
  });
});

test.each(['ECONNREFUSED', 'ECONNRESET'])('one that fails with %s is away: 503', async (code) => {
  const { ask, world } = await open();
  world.origin = failing(code);
  expect((await ask('/x')).status).toBe(503);
});

describe('with retries', () => {
  test('what was never sent is free, whether its retry failed or was refused', async () => {
    const { ask, world, rows } = await open({ backend: { retries: 1 } });
    world.origin = failing('ECONNREFUSED');
    // The fifth attempt is the third request's first: its retry isn't sent at all.
    for (let i = 0; i < 3; i++) await (await ask('/x')).text();
    expect(world.asked).toHaveLength(5);
    expect((await rows()).map(({ costNanoUsd }) => costNanoUsd)).toEqual([0, 0, 0]);
  });

  test('what may have run is paid, though its retry was never sent', async () => {
    const { ask, world, rows } = await open({ backend: { retries: 1 } });
    world.origin = (_, seen) => failing(seen === 1 ? 'Malformed_HTTP_Response' : 'ECONNREFUSED')();
    expect((await ask('/x')).status).toBe(503);
    expect(await rows()).toMatchObject([{ status: 'error', costNanoUsd: 1000 }]);
  });
});

test('one that is switched off is not called unknown', async () => {
  const { ask } = await open({ backend: { isActive: false } });
  const answer = await ask('/x');
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect([answer.status, error]).toMatchObject([
    404,
    { code: 'not_found', message: 'The operator switched the backend "py" off.' },
  ]);
});

test.each([
  [500, 0],
  [502, 0],
  [503, 0],
  [504, 1000],
  [524, 1000],
])('%d costs %d: a proxy that gave up left the work under way', async (status, costNanoUsd) => {
  const { ask, world, rows } = await open();
  world.origin = () => new Response('no', { status });
  await (await ask('/x', { method: 'POST', body: 'x' })).text();
  expect(await rows()).toMatchObject([{ status: 'error', httpStatus: status, costNanoUsd }]);
});
