import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { prepareParts, prepareWaterfall, roundTicks, type Timed } from './prepare-waterfall';

type Attempt = NonNullable<Timed['attempts']>[number];

const attempt = (start_ms: number, latency_ms: number, outcome = 'ok', status: number | null = null): Attempt => ({
  ...{ provider: 'p', model: 'm', outcome, status, start_ms, latency_ms, cost_usd: null },
});
const log = (change: Partial<Timed>): Timed => ({
  ...{ latency_ms: 100, ttft_ms: null, overhead_ms: null, attempts: null, cache_hit: false },
  ...{ semantic_cache_hit: false, stream: true, dialect: 'openai-chat', status: 'success', error_code: null },
  ...change,
});
const lines = (change: Partial<Timed>) =>
  prepareWaterfall(log(change)).steps.map(
    ({ kind, name, detail, startMs, ms }) => `${startMs}+${ms} ${kind} ${name}: ${detail}`,
  );

describe('steps', () => {
  test('a stream that failed over: gateway, attempts to the first byte, the wait, generation', () => {
    const attempts = [
      attempt(1, 20, 'server_error', 500),
      attempt(31, 9.5, 'rate_limited', 429),
      { ...attempt(41, 0, 'breaker_open'), provider: 'q' },
      { ...attempt(41, 19, 'ok', 200), provider: 'r' },
    ];
    expect(lines({ attempts, ttft_ms: 62 })).toEqual([
      '0+1 gateway Gateway: before the first attempt',
      '1+20 failed p/m: server error (500)',
      '21+10 wait Wait: before the next attempt',
      '31+9.5 failed p/m: rate limited (429)',
      '40.5+0.5 gateway Gateway: before the next attempt',
      '41+0 skipped q/m: skipped, paused after failures',
      '41+19 attempt r/m: to the first byte (200)',
      '60+2 gateway Gateway: before the first byte',
      '62+38 generation Generation: first byte to the end',
    ]);
  });

  test('parts of a failure: both attempts, the pause between them and the rest', () => {
    const attempts = [attempt(2, 20, 'server_error', 500), attempt(72, 25, 'timeout')];
    expect(prepareParts(log({ attempts, status: 'error', stream: false }))).toEqual({
      ...{ upstreamMs: 45, waitMs: 50, gatewayMs: 5 },
    });
    expect(prepareParts(log({ attempts: [attempt(2, 0, 'breaker_open')], status: 'error' }))).toBeNull();
    expect(prepareParts(log({ cache_hit: true }))).toBeNull();
  });

  test('a wait in the queue is no part of the gateway; rounding is no queue', () => {
    const row = { stream: false, attempts: [attempt(0, 0, 'breaker_open'), attempt(52, 40)], ttft_ms: 94 };
    expect(lines({ ...row, overhead_ms: 4 })).toEqual([
      '0+50 wait Queue: for a place, before the first attempt',
      '0+0 skipped p/m: skipped, paused after failures',
      '50+2 gateway Gateway: before the first attempt',
      '52+40 attempt p/m: answered',
      '92+8 gateway Gateway: answer to the caller',
    ]);
    expect(prepareParts(log({ ...row, overhead_ms: 4 }))).toEqual({ upstreamMs: 40, waitMs: 50, gatewayMs: 10 });
    expect(prepareParts(log({ ...row, overhead_ms: 53.5 }))?.waitMs).toBe(0);
  });

  test('a plain answer comes whole; the first byte to the caller is no step of it', () => {
    expect(lines({ stream: false, attempts: [attempt(2, 95, 'ok', 200)], ttft_ms: 99 })).toEqual([
      '0+2 gateway Gateway: before the first attempt',
      '2+95 attempt p/m: answered (200)',
      '97+3 gateway Gateway: answer to the caller',
    ]);
    expect(lines({ dialect: 'infer', stream: false, attempts: [attempt(0, 40)], ttft_ms: 40 })).toEqual([
      '0+40 attempt p/m: to the first byte',
      '40+60 generation Answer: first byte to the end',
    ]);
  });

  test('hedged attempts overlap, whichever wins and however the loser ended', () => {
    const hedged = (first: string, second: string) =>
      lines({ attempts: [attempt(0, 60, first), attempt(30, 30, second)], ttft_ms: 60 });
    expect(hedged('superseded', 'ok')).toEqual([
      '0+60 cancelled p/m: cancelled, another attempt was faster',
      '30+30 attempt p/m: to the first byte',
      '60+40 generation Generation: first byte to the end',
    ]);
    expect(hedged('ok', 'superseded')[0]).toBe('0+60 attempt p/m: to the first byte');
    const failed = [attempt(0, 60), attempt(30, 10, 'connection')];
    expect(lines({ attempts: failed, ttft_ms: 60 })).toEqual([
      '0+60 attempt p/m: to the first byte',
      '30+10 failed p/m: connection failed',
      '60+40 generation Generation: first byte to the end',
    ]);
    // The log rounds: the loser may seem to end last.
    expect(lines({ attempts: [attempt(0, 60.001, 'superseded'), attempt(30, 30)], ttft_ms: 61 })[2]).toStartWith(
      '60.001+0.9',
    );
  });

  test('an answer that a guardrail refused is followed by another attempt', () => {
    expect(lines({ stream: false, attempts: [attempt(0, 30), attempt(40, 50)] })).toEqual([
      '0+30 attempt p/m: answered',
      '30+10 wait Answer refused: by a guardrail, before the next attempt',
      '40+50 attempt p/m: answered',
      '90+10 gateway Gateway: answer to the caller',
    ]);
  });

  test('failures and callers who left', () => {
    const failed = { status: 'error', error_code: 'upstream_timeout' } as const;
    const left = { status: 'aborted', error_code: 'client_closed' } as const;
    const tail = (change: Partial<Timed>) => lines(change).at(-1);
    const timedOut = [attempt(0, 90, 'timeout')];
    expect(tail({ ...failed, attempts: timedOut })).toBe('90+10 gateway Gateway: error to the caller');
    expect(tail({ ...left, attempts: timedOut })).toBe('90+10 wait Wait: until the caller left');
    expect(tail({ ...left, attempts: [attempt(0, 100, 'aborted')] })).toBe('0+100 cancelled p/m: cancelled');
    const begun = [attempt(0, 40)];
    expect(tail({ ...failed, attempts: begun, ttft_ms: 40 })).toBe(
      '40+60 failed Generation: broke off: upstream timeout',
    );
    expect(tail({ ...left, attempts: begun, ttft_ms: 40 })).toBe('40+60 cancelled Generation: until the caller left');
    expect(tail({ ...left, attempts: begun })).toBe('40+60 unknown No byte sent: until the caller left');
    expect(tail({ attempts: begun })).toBe('40+60 unknown Answer: its first byte was not measured');
    const blocked = { status: 'error', error_code: 'guardrail_blocked', stream: false } as const;
    expect(tail({ ...blocked, attempts: begun })).toBe('40+60 gateway Gateway: error to the caller');
  });

  test('without an attempt, one bar tells what the row knows', () => {
    const hit = { ttft_ms: 90, overhead_ms: 90 };
    expect(lines({ ...hit, cache_hit: true })).toEqual(['0+100 exact Exact cache: answered without a provider']);
    expect(lines({ ...hit, semantic_cache_hit: true })).toEqual([
      '0+100 semantic Semantic cache: answered without a provider',
    ]);
    expect(lines({ ttft_ms: 90, overhead_ms: 2, cache_hit: true })).toEqual([
      '0+100 exact Identical request: shared the answer of a call under way',
    ]);
    expect(lines({ status: 'rate_limited' })).toEqual(['0+100 gateway Gateway: no provider was called']);
    expect(lines({ status: 'error', attempts: [attempt(0, 0, 'context_window')] })).toEqual([
      '0+0 skipped p/m: skipped, the prompt is too long',
      '0+100 gateway Gateway: no provider was called',
    ]);
  });

  test('pass-through has no attempts, and a note says so', () => {
    const passed = log({ dialect: 'passthrough', ttft_ms: 30, overhead_ms: 0.5 });
    const { steps, note } = prepareWaterfall(passed);
    expect(steps.map(({ name, startMs, ms }) => [name, startMs, ms])).toEqual([
      ['Gateway and provider', 0, 30],
      ['Answer', 30, 70],
    ]);
    expect(note).toBe("Pass-through keeps no attempts. The gateway's own 0.50 ms are in the first bar.");
    expect(lines({ dialect: 'passthrough', status: 'error' })).toEqual([
      '0+100 unknown Gateway and provider: no part was measured',
    ]);
    expect(prepareWaterfall(log({ attempts: [attempt(0, 50)] })).note).toBeNull();
  });
});

describe('laws', () => {
  const ms = fc.double({ min: 0, max: 1e6, noNaN: true });
  const outcome = fc.constantFrom('ok', 'timeout', 'superseded', 'aborted', 'breaker_open', 'made_up');
  const status = fc.constantFrom('success' as const, 'error' as const, 'aborted' as const);
  const rest = fc.record({
    ...{ status, stream: fc.boolean(), cache_hit: fc.boolean(), overhead_ms: fc.option(ms) },
    ...{ ttft_ms: fc.option(ms), dialect: fc.constantFrom('openai-chat' as const, 'passthrough' as const) },
  });

  test('steps lie inside the request in the order of their start and leave no gap, however clocks went', () => {
    const some = fc.array(fc.tuple(ms, ms, outcome), { maxLength: 6 });
    fc.assert(
      fc.property(ms, some, rest, (latencyMs, tuples, change) => {
        const attempts = tuples.map((tuple) => attempt(...tuple));
        const { steps, wholeMs } = prepareWaterfall(log({ ...change, latency_ms: latencyMs, attempts }));
        let endMs = 0;
        for (const [index, step] of steps.entries()) {
          expect(step.startMs).toBeGreaterThanOrEqual(steps[index - 1]?.startMs ?? 0);
          expect(step.ms).toBeGreaterThanOrEqual(0);
          expect(step.startMs + step.ms).toBeLessThanOrEqual(wholeMs * (1 + 1e-12));
          if (step.kind !== 'skipped') expect(step.startMs - endMs).toBeLessThanOrEqual(0.0101);
          if (step.kind !== 'skipped') endMs = Math.max(endMs, step.startMs + step.ms);
        }
        expect(wholeMs - endMs).toBeLessThanOrEqual(0.0101);
      }),
    );
  });

  test('attempts one after the other add up to the latency, with the time between them', () => {
    const span = fc.double({ min: 0, max: 10_000, noNaN: true });
    const row = fc.array(fc.tuple(span, span), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(row, span, span, (spans, beforeMs, afterMs) => {
        let atMs = 0;
        const attempts = spans.map(([waitMs, ownMs], index) => {
          const startMs = atMs + waitMs;
          atMs = startMs + ownMs;
          return attempt(startMs, ownMs, index === spans.length - 1 ? 'ok' : 'timeout');
        });
        const ttftMs = atMs + beforeMs;
        const latencyMs = ttftMs + afterMs;
        const { steps } = prepareWaterfall(log({ attempts, ttft_ms: ttftMs, latency_ms: latencyMs }));
        const sum = steps.reduce((total, step) => total + step.ms, 0);
        expect(Math.abs(sum - latencyMs)).toBeLessThanOrEqual(0.01 * (spans.length + 2) + 1e-6);
      }),
    );
  });

  test('the axis has three to six round times, all inside', () => {
    expect(roundTicks(1234)).toEqual([0, 500, 1000]);
    expect(roundTicks(0.3)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(roundTicks(5000)).toEqual([0, 1000, 2000, 3000, 4000, 5000]);
    expect(roundTicks(27 * 60_000)).toEqual([0, 10, 20].map((minutes) => minutes * 60_000));
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 1e7, noNaN: true }), (wholeMs) => {
        const ticks = roundTicks(wholeMs);
        expect(ticks.length).toBeGreaterThanOrEqual(3);
        expect(ticks.length).toBeLessThanOrEqual(6);
        expect(ticks[0]).toBe(0);
        expect(ticks.at(-1) ?? 0).toBeLessThanOrEqual(wholeMs * (1 + 1e-8));
        const unit = wholeMs > 180_000 ? 60_000 : 1;
        expect(((ticks[1] ?? 0) / unit).toExponential().split('e')[0]).toMatch(/^[125]$/);
      }),
    );
  });
});
