import { describe, expect, test } from 'bun:test';
import type { Provider } from '../../api/routing';
import type { ProviderHealth } from '../../api/stats';
import { describeHours, HOUR_MS, lastDay, prepareHours } from './prepare-hours';
import { prepareProviders } from './prepare-routing';

const provider = (name: string) =>
  ({ name, is_configured: true, is_active: true, targets: [], keys: [], key_problem: null }) as unknown as Provider;
const fared = (provider: string, answered: number, failed: number, elsewhere = 0) =>
  ({ provider, answered, failed, answered_elsewhere: elsewhere }) as ProviderHealth;

describe('how providers fared', () => {
  test('failed-over requests count as failed at their first provider', () => {
    const health = [fared('anthropic', 4, 96, 96), fared('openai', 114, 6), fared('groq', 0, 3, 3)];
    const providers = [provider('anthropic'), provider('openai'), provider('groq'), provider('xai')];
    const lines = prepareProviders(providers, { now: health, health, latency: [] });
    expect(
      lines.map(({ name, requests, elsewhere, errorRate, health }) => [
        ...[name, requests, elsewhere, errorRate, health.label],
      ]),
    ).toEqual([
      ['openai', 120, 0, 0.05, 'degraded'],
      ['anthropic', 100, 96, 0.96, 'failing'],
      ['groq', 3, 3, 1, 'failing'],
      ['xai', 0, 0, null, 'ready'],
    ]);
  });

  test('a drained provider says so, whatever else is wrong with it', () => {
    const targets = [{ model: 'm', state: 'open' as const, until: null }];
    const lines = prepareProviders([{ ...provider('openai'), drain: true, targets }], {
      now: [],
      health: [],
      latency: [],
    });
    expect(lines.map(({ health }) => health)).toEqual([{ label: 'drained by operator', tone: 'warn' }]);
  });

  test.each(['open', 'half_open'] as const)('a breaker that is %s pauses it, as the banner says', (state) => {
    const targets = [{ model: 'm', state, until: null }];
    const [line] = prepareProviders([{ ...provider('openai'), targets }], { now: [], health: [], latency: [] });
    expect(line?.health).toEqual({ label: 'paused', tone: 'bad' });
  });

  test('figures are of the day, and health of the last hour', () => {
    const [line] = prepareProviders([provider('openai')], {
      now: [fared('openai', 10, 0)],
      health: [fared('openai', 50, 50, 70)],
      latency: [],
    });
    expect(line).toMatchObject({
      requests: 100,
      failed: 50,
      errorRate: 0.5,
      elsewhere: 70,
      health: { label: 'healthy' },
    });
  });
});

test('a provider without a key is not set up, and stands out if it got requests lately', () => {
  const keyless = { ...provider('openai'), is_configured: false };
  const healthOf = (health: ProviderHealth[]) =>
    prepareProviders([keyless], { now: [], health, latency: [] })[0]?.health;
  expect(healthOf([fared('openai', 1, 0)])).toEqual({ label: 'not set up', tone: 'warn' });
  expect(healthOf([])).toEqual({ label: 'not set up', tone: 'neutral' });
});

describe('the last hours of providers', () => {
  const nowMs = Date.parse('2026-11-26T05:02:17Z');
  const { fromMs } = lastDay(nowMs);
  const lastHourMs = Date.parse('2026-11-26T05:00:00Z');
  const bucket = (hoursAgo: number, provider: string, answered: number, failed = 0) =>
    ({ start: new Date(lastHourMs - hoursAgo * HOUR_MS).toISOString(), provider, answered, failed }) as ProviderHealth;

  test('end with the running one, and have no gaps', () => {
    expect(new Date(fromMs).toISOString()).toBe('2026-11-25T05:02:17.000Z');
    const hours = prepareHours([bucket(0, 'openai', 2, 1), bucket(24, 'openai', 2), bucket(30, 'openai', 9)], fromMs);
    expect(hours.get('openai')).toEqual({
      requests: [2, ...Array.from({ length: 23 }, () => 0), 3],
      failed: [...Array.from({ length: 24 }, () => 0), 1],
    });
    expect(hours.get('groq')).toBeUndefined();
  });

  test('are said', () => {
    expect(describeHours({ requests: [2000, 3], failed: [0, 1] })).toBe(
      '2,003 requests in 24 hours, at most 2,000 in one, 1 failed',
    );
    expect(describeHours({ requests: [0], failed: [0] })).toBe('No requests in 24 hours');
  });
});
