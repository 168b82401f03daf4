import { describe, expect, test } from 'bun:test';
import type { Provider } from '../../api/routing';
import type { ErrorBucket } from '../../api/stats';
import { prepareProviders } from './prepare-routing';

const provider = (name: string) =>
  ({ name, is_configured: true, is_active: true, targets: [], keys: [] }) as unknown as Provider;
const ended = (group: string, requests: number, errors: number) =>
  ({ group, requests, errors, error_rate: errors / requests }) as ErrorBucket;

describe('how providers fared', () => {
  test('failed-over requests count as failed at their first provider', () => {
    const lines = prepareProviders([provider('anthropic'), provider('openai'), provider('groq'), provider('xai')], {
      errors: [ended('anthropic', 4, 0), ended('openai', 120, 6)],
      failovers: [
        { provider: 'anthropic', failovers: 96 },
        { provider: 'groq', failovers: 3 },
      ],
      latency: [],
    });
    expect(
      lines.map(({ name, requests, failedOver, errorRate, health }) => [
        ...[name, requests, failedOver, errorRate, health.label],
      ]),
    ).toEqual([
      ['openai', 120, 0, 0.05, 'degraded'],
      ['anthropic', 4, 96, 0.96, 'failing'],
      ['groq', 0, 3, 1, 'failing'],
      ['xai', 0, 0, null, 'ready'],
    ]);
  });

  test('a drained provider says so, whatever else is wrong with it', () => {
    const targets = [{ model: 'm', state: 'open' as const, until: null }];
    const lines = prepareProviders([{ ...provider('openai'), drain: true, targets }], {
      errors: [],
      failovers: [],
      latency: [],
    });
    expect(lines.map(({ health }) => health)).toEqual([{ label: 'drained by operator', tone: 'warn' }]);
  });
});
