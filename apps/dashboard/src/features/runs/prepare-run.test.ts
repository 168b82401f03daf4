import { expect, test } from 'bun:test';
import { keyOfRun, prepareRun, readRunKey, stateOfRun } from './prepare-run';
import type { RunDetail } from './use-runs';

type Item = RunDetail['items'][number];
const item = (second: number, more: Partial<Item>): Item => ({
  ...{ type: 'request', request_id: `r${second}`, created_at: new Date(second * 1000).toISOString(), name: 'gpt-5' },
  ...{
    status: 'success',
    error_code: null,
    cost_usd: 0.5,
    tokens_total: 1200,
    latency_ms: 800,
    overhead_ms: null,
    ...more,
  },
});

test('tool calls hang below the request that came before; failures, tokens and cost are said', () => {
  const { steps, wholeMs, note } = prepareRun([
    item(10, { type: 'tool_call', name: 'wiki__ask', tokens_total: 0, cost_usd: 0 }),
    item(11, {}),
    item(12, { type: 'tool_call', name: 'wiki__ask', tokens_total: 0, cost_usd: 0.001, latency_ms: 4000 }),
    item(13, {
      status: 'cap_exceeded',
      error_code: 'run_budget_exceeded',
      cost_usd: 0,
      tokens_total: 0,
      latency_ms: 1,
    }),
    item(14, { status: 'aborted', error_code: 'client_closed' }),
  ]);
  expect(steps.map(({ depth, kind, startMs, detail }) => [depth, kind, startMs, detail])).toEqual([
    [0, 'generation', 0, '$0.00'],
    [0, 'attempt', 1000, '1,200 tokens, $0.50'],
    [1, 'generation', 2000, '$0.0010'],
    [0, 'failed', 3000, 'run_budget_exceeded, $0.00'],
    [0, 'cancelled', 4000, 'client_closed, 1,200 tokens, $0.50'],
  ]);
  expect([wholeMs, note]).toEqual([6000, null]);
});

test('a request begins when it came in, before its admission', () => {
  const { steps } = prepareRun([item(10, { overhead_ms: 200, latency_ms: 900 }), item(11, { overhead_ms: 100 })]);
  expect(steps.map(({ startMs, ms }) => [startMs, ms])).toEqual([
    [0, 900],
    [1100, 800],
  ]);
});

test('a run without rows has an axis; its key has any name', () => {
  expect(prepareRun([])).toMatchObject({ steps: [], wholeMs: 1 });
  const run = { project_id: crypto.randomUUID(), id: 'agent: one two' };
  expect(readRunKey(keyOfRun(run))).toEqual({ projectId: run.project_id, id: run.id });
});

test('a run that may go on is idle after ten quiet minutes; paused and stopped ones stay what they are', () => {
  const startMs = Date.parse('2026-03-01T14:00:00.000Z');
  const labelAt = (minutes: number, run: Partial<RunDetail>) =>
    stateOfRun(
      { state: 'running', started_at: new Date(startMs).toISOString(), last_active_at: null, ...run },
      startMs + minutes * 60_000,
    ).label;
  const last_active_at = new Date(startMs + 30 * 60_000).toISOString();
  expect([labelAt(9, {}), labelAt(11, {})]).toEqual(['running', 'idle']);
  expect([labelAt(39, { last_active_at }), labelAt(41, { last_active_at })]).toEqual(['running', 'idle']);
  expect([labelAt(90, { state: 'paused' }), labelAt(90, { state: 'stopped' })]).toEqual(['paused', 'stopped']);
});
