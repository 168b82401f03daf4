import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BREAKER_SETTINGS, CircuitBreaker } from './circuit-breaker';

const { minFailures, windowMs, openMs, maxOpenMs } = BREAKER_SETTINGS;
/** No jitter: periods have their full length. */
const noJitter = () => 0;

function opened(nowMs = 0): CircuitBreaker {
  const breaker = new CircuitBreaker(undefined, noJitter);
  for (let i = 0; i < minFailures; i++) breaker.fail(nowMs, nowMs);
  return breaker;
}

describe('circuit breaker', () => {
  test('opens at the fifth failure, not before', () => {
    const breaker = new CircuitBreaker(undefined, noJitter);
    for (let i = 1; i < minFailures; i++) expect(breaker.fail(0, i)).toBeUndefined();
    expect(breaker.fail(0, 10)).toBe(openMs);
    expect(breaker.mode(10)).toBe('open');
    expect(breaker.admit(10)).toBe(false);
  });

  test('says since when it is not closed, failed probes included', () => {
    const breaker = opened(100);
    breaker.grantProbe(100 + openMs + 1000);
    expect(breaker.admit(100 + openMs)).toBe(true);
    breaker.fail(100 + openMs, 100 + openMs + 1);
    expect(breaker.downForMs(100 + openMs + 500)).toBe(openMs + 500);
    expect(new CircuitBreaker().downForMs(5)).toBeUndefined();
  });

  test('says how long it has been half-open', () => {
    const breaker = opened(100);
    expect(breaker.halfOpenForMs(100 + openMs - 1)).toBeUndefined();
    expect(breaker.halfOpenForMs(100 + openMs + 30)).toBe(30);
    breaker.fail(100 + openMs + 30, 100 + openMs + 31);
    expect(breaker.halfOpenForMs(100 + openMs + 32)).toBeUndefined();
    expect(new CircuitBreaker().halfOpenForMs(5)).toBeUndefined();
  });

  test('does not open while most answers are fine, nor for failures long ago', () => {
    const breaker = new CircuitBreaker(undefined, noJitter);
    for (let i = 0; i < 20; i++) breaker.succeed(0, i);
    for (let i = 0; i < 19; i++) expect(breaker.fail(0, 20)).toBeUndefined();
    const slow = new CircuitBreaker(undefined, noJitter);
    for (let i = 0; i < 50; i++) expect(slow.fail(i * windowMs, i * windowMs)).toBeUndefined();
  });

  test('half-open: nobody is let through without a granted probe, exactly one with it', () => {
    const breaker = opened();
    expect(breaker.mode(openMs)).toBe('half_open');
    expect(breaker.admit(openMs)).toBe(false);
    breaker.grantProbe(openMs + 1000);
    expect([breaker.admit(openMs), breaker.admit(openMs)]).toEqual([true, false]);
    breaker.returnProbe();
    expect(breaker.admit(openMs)).toBe(true);
    breaker.returnProbe();
    expect(breaker.admit(openMs + 1000)).toBe(false);
  });

  test('a failed probe doubles the period, up to the longest one; a good one closes', () => {
    const breaker = opened();
    let nowMs = openMs;
    for (let trips = 2; trips < 10; trips++) {
      const periodMs = breaker.fail(nowMs, nowMs) ?? 0;
      expect(periodMs).toBe(Math.min(maxOpenMs, openMs * 2 ** (trips - 1)));
      nowMs += periodMs;
    }
    expect(breaker.succeed(nowMs, nowMs)).toBe(true);
    expect([breaker.mode(nowMs), breaker.trips]).toEqual(['closed', 0]);
  });

  test('requests from before the breaker opened are ignored', () => {
    const breaker = opened(100);
    expect(breaker.succeed(99, 150)).toBe(false);
    expect(breaker.fail(99, 100 + openMs)).toBeUndefined();
    expect(breaker.mode(150)).toBe('open');
  });

  test('repeated messages do not extend a period', () => {
    const breaker = opened();
    breaker.adopt({ openForMs: 0, trips: 1 }, openMs);
    breaker.grantProbe(openMs + 30_000);
    expect(breaker.admit(openMs)).toBe(true);
    breaker.adopt({ openForMs: 0, trips: 1 }, openMs + 500);
    expect(breaker.fail(openMs + 1, openMs + 600)).toBe(2 * openMs);
  });

  test('agrees with a plain model over any sequence of events', () => {
    type Event = { kind: 'ok' | 'fail' | 'admit' | 'grant' | 'return' | 'wait'; ms: number };
    const event: fc.Arbitrary<Event> = fc.record({
      kind: fc.constantFrom('ok', 'fail', 'fail', 'admit', 'grant', 'return', 'wait'),
      ms: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 2 * openMs })),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 120 }), (events) => {
        const breaker = new CircuitBreaker(undefined, noJitter);
        const model = createModel();
        let nowMs = 0;
        for (const { kind, ms } of events) {
          if (kind === 'wait') nowMs += ms;
          else nowMs += 1;
          const before = model.mode(nowMs);
          if (kind === 'ok') expect(breaker.succeed(nowMs, nowMs)).toBe(model.ok(nowMs));
          else if (kind === 'fail') expect(breaker.fail(nowMs, nowMs)).toBe(model.fail(nowMs));
          else if (kind === 'grant') {
            if (before !== 'half_open') continue;
            breaker.grantProbe(nowMs + ms);
            model.grant(nowMs + ms);
          } else if (kind === 'return') {
            breaker.returnProbe();
            model.release();
          } else if (kind === 'admit') expect(breaker.admit(nowMs)).toBe(model.admit(nowMs));
          expect(breaker.mode(nowMs)).toBe(model.mode(nowMs));
        }
      }),
    );
  });
});

/** The same rules over a list of all outcomes. */
function createModel() {
  let outcomes: { ok: boolean; bucket: number }[] = [];
  let bucket = 0;
  let bucketMs: number | undefined;
  let untilMs: number | undefined;
  let trips = 0;
  let probe: { untilMs: number; out: boolean } | undefined;
  const note = (ok: boolean, nowMs: number) => {
    if (bucketMs === undefined || nowMs - bucketMs >= windowMs) {
      bucket += bucketMs !== undefined && nowMs - bucketMs < 2 * windowMs ? 1 : 2;
      bucketMs = nowMs;
    }
    outcomes = [...outcomes, { ok, bucket }].filter((one) => one.bucket >= bucket - 1);
  };
  const open = (nowMs: number) => {
    const periodMs = Math.min(maxOpenMs, openMs * 2 ** trips);
    trips += 1;
    untilMs = nowMs + periodMs;
    probe = undefined;
    return periodMs;
  };
  const mode = (nowMs: number) => (untilMs === undefined ? 'closed' : nowMs < untilMs ? 'open' : 'half_open');
  return {
    mode,
    ok: (nowMs: number) => {
      if (untilMs === undefined) {
        note(true, nowMs);
        return false;
      }
      untilMs = undefined;
      trips = 0;
      outcomes = [];
      bucketMs = undefined;
      return true;
    },
    fail: (nowMs: number) => {
      if (mode(nowMs) === 'open') return undefined;
      if (mode(nowMs) === 'half_open') return open(nowMs);
      note(false, nowMs);
      const failed = outcomes.filter((one) => !one.ok).length;
      return failed >= minFailures && 2 * failed >= outcomes.length ? open(nowMs) : undefined;
    },
    grant: (grantUntilMs: number) => {
      probe = { untilMs: grantUntilMs, out: false };
    },
    release: () => {
      if (probe !== undefined) probe.out = false;
    },
    admit: (nowMs: number) => {
      if (mode(nowMs) !== 'half_open') return mode(nowMs) === 'closed';
      if (probe === undefined || probe.out || nowMs >= probe.untilMs) return false;
      probe.out = true;
      return true;
    },
  };
}
