import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { highestValue, thresholdProblem } from './check-threshold';
import { burnRate, DEFAULT_OBJECTIVE, isMet } from './condition';
import { ALERT_KIND_FACTS, ALERT_KINDS } from './kinds';

const kinds = fc.constantFrom(...ALERT_KINDS);
const objectives = fc.option(fc.double({ min: 0, max: 0.999999, noNaN: true }));

describe('thresholds that can be passed, and need not be', () => {
  test.each([
    ['error_rate', 7, undefined, /at most 1 \(a share: 0\.05 is 5 %\): .* never fire/],
    ['budget_share', 80, undefined, /at most 1 /],
    ['cache_ratio_fall', 1.01, undefined, /at most 1 /],
    ['error_budget_burn', 200, 0.99, /at most 100, which is when all requests fail/],
    ['error_budget_burn', 200, null, /at most 100,/],
    ['error_budget_burn', 200, 0.999, null],
    ['provider_down', 0, undefined, /above 0: .* all the time/],
    ['spend', 0, undefined, /above 0/],
    ['spend', 1e6, undefined, null],
    ['latency_p95', 30_000, undefined, null],
    ['job_failed', 0, undefined, null],
    ['error_rate', 1, undefined, null],
  ] as const)('%s %p with objective %p', (kind, threshold, objective, problem) => {
    const found = thresholdProblem({ kind, threshold, objective });
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
  });

  test('law: what is usual for a kind is taken', () => {
    for (const kind of ALERT_KINDS) {
      expect(thresholdProblem({ kind, threshold: ALERT_KIND_FACTS[kind].defaultThreshold })).toBeNull();
    }
  });

  test('law: what is taken is met by the most that can be measured, and not by nothing', () => {
    fc.assert(
      fc.property(kinds, fc.double({ min: 0, max: 1e9, noNaN: true }), objectives, (kind, threshold, objective) => {
        if (thresholdProblem({ kind, threshold, objective }) !== null) return;
        expect(isMet({ kind, threshold }, highestValue({ kind, objective }) ?? 1e9)).toBe(true);
        expect(isMet({ kind, threshold }, 0)).toBe(false);
      }),
    );
  });

  test('law: no budget burns faster than with all requests failed', () => {
    const sums = fc
      .nat(1000)
      .chain((requests) =>
        fc.nat(requests).map((failures) => ({ success: requests - failures, failures, costNanoUsd: 0, p95Ms: null })),
      );
    fc.assert(
      fc.property(sums, sums, objectives, (long, short, objective) => {
        const most = highestValue({ kind: 'error_budget_burn', objective }) ?? 0;
        expect(burnRate({ objective: objective ?? DEFAULT_OBJECTIVE }, long, short) ?? 0).toBeLessThanOrEqual(most);
      }),
    );
  });
});
