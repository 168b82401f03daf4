import { describe, expect, test } from 'bun:test';
import type { Provider } from '../../api/routing';
import type { ProviderHealth } from '../../api/stats';
import { barTimes } from '../../charts/strip/prepare-strip';
import { describeBars, HOUR_MS, MOST_BARS, prepareProviderBars } from './prepare-provider-bars';
import { describeUse, prepareProviders } from './prepare-routing';

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

  test('figures are of the range, and health of the last hour', () => {
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

describe('bars of providers', () => {
  const toMs = Date.parse('2026-11-26T05:02:00Z');
  const DAY_MS = 24 * HOUR_MS;
  const times = barTimes({ fromMs: toMs - DAY_MS, toMs }, MOST_BARS);
  const bucket = (start: string, provider: string, answered: number, failed = 0) =>
    ({ start, provider, answered, failed }) as ProviderHealth;

  test('end with the running hour of a day, and have no gaps', () => {
    const found = prepareProviderBars(
      [
        bucket('2026-11-26T05:00:00Z', 'openai', 2, 1),
        bucket('2026-11-25T05:00:00Z', 'openai', 2),
        bucket('2026-11-24T23:00:00Z', 'openai', 9),
      ],
      times,
    );
    expect(found.get('openai')).toEqual({
      requests: [2, ...Array.from({ length: 23 }, () => 0), 3],
      failed: [...Array.from({ length: 24 }, () => 0), 1],
    });
    expect(found.get('groq')).toBeUndefined();
  });

  test('of longer and shorter ranges are as many', () => {
    const of = (days: number) => barTimes({ fromMs: toMs - days * DAY_MS, toMs }, MOST_BARS);
    expect([7, 90, 1 / 24].map((days) => of(days).intervalMs / HOUR_MS)).toEqual([7, 96, 150 / 3600]);
    expect([7, 90, 1 / 24].every((days) => of(days).count <= MOST_BARS + 1)).toBe(true);
  });

  test('are said', () => {
    expect(describeBars({ requests: [2000, 3], failed: [0, 1] }, HOUR_MS)).toBe(
      '2,003 requests, at most 2,000 in 1 hour, 1 failed',
    );
    expect(describeBars({ requests: [0], failed: [0] }, HOUR_MS)).toBe('No requests');
  });
});

test('the use of a provider names the range it is of', () => {
  const routes = { aliases: [], chains: [] };
  const use = (label: string) => describeUse({ name: 'openai', requests: 41 }, { ...routes, range: { label } });
  expect(use('24 hours')).toBe('Used by 0 aliases and 0 chains, 41 requests in the last 24 hours.');
  expect(use('custom')).toBe('Used by 0 aliases and 0 chains, 41 requests in the chosen range.');
});
