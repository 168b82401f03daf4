import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Failover } from '../../api/routing';
import { groupFailovers } from './prepare-failovers';

const at = (minute: number) => new Date(minute * 60_000).toISOString();
const failover = (minute: number, more: Partial<Failover> = {}): Failover => ({
  ...{ id: String(minute), created_at: at(minute), project_id: 'p', request_id: `r${minute}` },
  ...{ original_provider: 'openai', original_model: 'gpt-4o', fallback_provider: 'anthropic' },
  ...{ fallback_model: 'claude', trigger_reason: 'server_error', trigger_status_code: 500 },
  ...{ original_attempt_latency_ms: 10, fallback_latency_ms: 5, fallback_succeeded: true },
  ...more,
});

describe('failovers', () => {
  test('equal ones are one row with their number, first and last; a skip takes no time', () => {
    const skipped = { trigger_reason: 'breaker_open', trigger_status_code: null, original_attempt_latency_ms: 0 };
    const rows = [failover(9, skipped), failover(8, skipped), failover(7), failover(3, skipped)];
    const shown = groupFailovers(rows).map(({ reason, times, first, last, lostMs }) => [
      ...[reason, times, first, last, lostMs],
    ]);
    expect(shown).toEqual([
      ['paused', 3, at(3), at(9), null],
      ['failed 500', 1, at(7), at(7), 10],
    ]);
  });

  test('no switch is lost, and none counts twice', () => {
    const rows = fc.array(
      fc.record({
        minute: fc.nat(500),
        fallback_model: fc.constantFrom('a', 'b'),
        fallback_succeeded: fc.boolean(),
        trigger_reason: fc.constantFrom('timeout', 'server_error', 'breaker_open'),
      }),
    );
    fc.assert(
      fc.property(rows, (made) => {
        const groups = groupFailovers(made.map(({ minute, ...more }) => failover(minute, more)));
        expect(groups.reduce((sum, { times }) => sum + times, 0)).toBe(made.length);
        expect(new Set(groups.map(({ key }) => key)).size).toBe(groups.length);
      }),
    );
  });
});
