import { describe, expect, test } from 'bun:test';
import { isComparable, type Overview } from '../../api/stats';
import { prepareErrors, prepareStats, withLatency } from './prepare-overview';

const NONE = { p50: null, p95: null, p99: null };
const overview = (given: Partial<Overview>): Overview => ({
  requests: 0,
  success: 0,
  errors: 0,
  failures: 0,
  caller_errors: 0,
  rate_limited: 0,
  cap_exceeded: 0,
  aborted: 0,
  cost_usd: 0,
  saved_usd: 0,
  tokens_in: 0,
  tokens_out: 0,
  cache_hits: 0,
  semantic_hits: 0,
  misses: 0,
  latency_ms: NONE,
  ttft_ms: NONE,
  overhead_ms: NONE,
  upstream_ms: NONE,
  ...given,
});

describe('cards', () => {
  const shownAs = (now: Overview | undefined, label: string) =>
    prepareStats(now, undefined).find((stat) => stat.label === label)?.value;

  test('no requests: money is zero, shares and durations are nothing', () => {
    const now = overview({});
    expect(shownAs(now, 'Spend')).toBe('$0.00');
    expect(['Success', 'Latency p95', 'Cache hits'].map((label) => shownAs(now, label))).toEqual(['–', '–', '–']);
  });

  test('each opens its page, or the requests that it counts', () => {
    const search = { range: '7d', project: 'p', view: 'x' };
    const opened = prepareStats(overview({}), undefined).map(({ label, to }) => {
      if (to === undefined || typeof to.search !== 'function') throw new Error(`${label} opens nothing`);
      const kept: Record<string, string> = JSON.parse(JSON.stringify(to.search(search)));
      return `${label}: ${to.to} ${new URLSearchParams(kept)}`;
    });
    const kept = 'range=7d&project=p';
    expect(opened).toEqual([
      ...[`Spend: /money ${kept}`, `Requests: /requests ${kept}`, `Success: /requests ${kept}&outcome=success`],
      ...[`Tokens: /requests ${kept}&sort=-tokens_total`, `Latency p95: /latency ${kept}`],
      ...[`Time to first token p95: /latency ${kept}&metric=ttft`],
      ...[`Gateway overhead p95: /latency ${kept}&metric=overhead`, `Cache hits: /cache ${kept}`],
    ]);
  });

  test('numbers beside those of the period before', () => {
    const stats = prepareStats(
      overview({
        requests: 200,
        success: 150,
        failures: 50,
        cost_usd: 3,
        cache_hits: 10,
        semantic_hits: 30,
        misses: 160,
        tokens_in: 1500,
        tokens_out: 500,
      }),
      overview({ requests: 100, success: 100, cost_usd: 2 }),
    );
    const of = (label: string) => stats.find((stat) => stat.label === label);
    expect(of('Spend')).toMatchObject({ value: '$3.00', now: 3, before: 2 });
    expect(of('Success')).toMatchObject({ value: '75.00 %', now: 0.75, before: 1, better: 'more' });
    expect(of('Cache hits')).toMatchObject({ value: '20.0 %' });
    expect(of('Tokens')).toMatchObject({ value: '2K', detail: '1.5K in, 500 out' });
  });

  test('every card says more than its change, once it can', () => {
    const p50 = { p50: 20, p95: 40, p99: 50 };
    const details = (given: Partial<Overview>) =>
      prepareStats(overview(given), undefined).map(({ label, detail }) => [label, detail]);
    const now = { requests: 2_000, success: 1_990, failures: 4, aborted: 6, cost_usd: 3, saved_usd: 1 };
    expect(Object.fromEntries(details({ ...now, latency_ms: p50, ttft_ms: p50, overhead_ms: p50 }))).toMatchObject({
      Spend: '$1.50 per 1,000 requests',
      Requests: '4 failed',
      'Time to first token p95': 'p50 ≈ 20 ms, of providers',
      'Gateway overhead p95': 'p50 ≈ 20 ms',
    });
    expect(details({}).filter(([, detail]) => detail === undefined)).toEqual([
      ['Spend', undefined],
      ['Success', undefined],
    ]);
  });

  test('what is neither a success nor a failure lowers no success, and is named', () => {
    const now = overview({ requests: 124, success: 90, failures: 10, caller_errors: 20, rate_limited: 1, aborted: 3 });
    const [success] = prepareStats(now, now).filter(({ label }) => label === 'Success');
    expect(success).toMatchObject({
      value: '90.00 %',
      now: 0.9,
      before: 0.9,
      detail: 'without 20 caller errors, 1 rate limited, 3 aborted',
    });
  });

  test('refused requests lower no hit rate', () => {
    const now = overview({ requests: 1000, success: 80, failures: 20, caller_errors: 100, cache_hits: 50, misses: 50 });
    const [hits] = prepareStats(now, undefined).filter(({ label }) => label === 'Cache hits');
    expect(hits).toMatchObject({ value: '50.0 %' });
  });

  test('totals show where durations could not be read, and wait where they load', () => {
    const totals = overview({ requests: 7 });
    expect(withLatency(totals, { data: undefined, error: new Error('late') })).toMatchObject({
      requests: 7,
      latency_ms: NONE,
    });
    expect(withLatency(totals, { data: undefined, error: null })).toBeUndefined();
    const known = { p50: 1, p95: 2, p99: 3 };
    const of = (durations: Pick<Overview, 'latency_ms' | 'ttft_ms'>) =>
      withLatency(totals, { data: { buckets: [durations] }, error: null });
    expect(of({ latency_ms: known, ttft_ms: NONE })?.latency_ms).toEqual(known);
  });

  test('cache hits make no provider look fast: its answers alone are measured', () => {
    const hits = { p50: 0.8, p95: 650, p99: 700 };
    const providers = { p50: 500, p95: 900, p99: 950 };
    const totals = overview({ latency_ms: hits, ttft_ms: hits });
    const answers = { data: { buckets: [{ latency_ms: providers, ttft_ms: providers }] }, error: null };
    expect(withLatency(totals, answers)).toMatchObject({ latency_ms: providers, ttft_ms: providers });
    expect(withLatency(totals, { data: { buckets: [] }, error: null })).toMatchObject({ ttft_ms: NONE });
  });

  test('a period is compared with a whole one alone', () => {
    const of = (before?: number, first?: number) =>
      isComparable(
        before === undefined ? undefined : { requests: before },
        first === undefined ? undefined : { requests: first },
      );
    expect([of(), of(5), of(5, 0), of(0, 5), of(5, 5)]).toEqual([false, false, false, false, true]);
  });

  test('while it loads nothing is claimed', () => {
    expect(prepareStats(undefined, undefined).every(({ value, now }) => value === '–' && now === null)).toBe(true);
  });
});

describe('errors', () => {
  test('the most frequent first, without what is no error', () => {
    const lines = prepareErrors([
      { group: 'internal', requests: 1 },
      { group: '', requests: 50 },
      { group: 'upstream_error', requests: 7 },
    ]);
    expect(lines).toEqual([
      { code: 'upstream_error', domain: 'provider', requests: 7 },
      { code: 'internal', domain: 'gateway', requests: 1 },
    ]);
  });
});
