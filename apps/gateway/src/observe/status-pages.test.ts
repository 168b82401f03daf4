import { expect, test } from 'bun:test';
import { showProbe } from './status-pages';

const state = (more: object) => ({
  ...{ provider: 'infer:py', model: 'py', mode: 'closed' as const, openForMs: 0, coolForMs: 0 },
  ...more,
});

test.each([
  [{}, { ok: true, detail: undefined }],
  [{ coolForMs: 3_599_500 }, { ok: false, detail: 'it sent Retry-After: no call for another 3600 s' }],
  [
    { mode: 'open', openForMs: 4_100 },
    { ok: false, breaker: 'open', detail: 'requests failed: no call for another 5 s' },
  ],
  [{ mode: 'half_open' }, { ok: false, breaker: 'half_open', detail: 'requests failed: one probe is due' }],
])('a backend that answers its probe and is %j says why it is not asked', (more, told) => {
  expect(showProbe({ ok: true, latencyMs: 1 }, state(more))).toMatchObject(told);
});
