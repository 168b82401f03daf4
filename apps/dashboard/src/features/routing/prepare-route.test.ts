import { describe, expect, test } from 'bun:test';
import { notesOf, prepareAliasRoute, prepareChainRoute } from './prepare-route';

const context = {
  isSetUp: (provider: string) => provider !== 'groq',
  isPriced: (_: string, model: string) => model !== 'nova',
};
const ROWS = 'openai/gpt-4o ×75 %\nanthropic/claude ×25 %\ngroq/llama ×0 %';
const stepsOf = (values: Record<string, string | boolean>) => prepareAliasRoute(values, context).steps;

describe('the route of an alias', () => {
  test('by share: where requests begin, how many, and what is passed by', () => {
    const route = prepareAliasRoute({ alias: 'smart', strategy: 'weighted', targets: ROWS, failover: '' }, context);
    expect(route).toMatchObject({ start: 'smart', goesOn: true, end: 'error to the caller' });
    expect(route.steps.map(({ name, label, share, isSkipped }) => [name, label, share, isSkipped])).toEqual([
      ['openai/gpt-4o', '75 %', 0.75, false],
      ['anthropic/claude', '25 %', 0.25, false],
      ['groq/llama', null, 0, true],
    ]);
  });

  test('in order, or by a measure', () => {
    const labels = (strategy: string) => stepsOf({ strategy, targets: ROWS }).map(({ label }) => label);
    expect(labels('priority')).toEqual(['first', null, null]);
    expect(labels('least_latency')).toEqual(['fastest', 'fastest', 'fastest']);
    expect(labels('cheapest')).toEqual(['cheapest', 'cheapest', 'cheapest']);
  });

  test('follows a form that is being filled in', () => {
    expect(stepsOf({ strategy: 'priority', targets: '' })).toEqual([]);
    expect(stepsOf({ strategy: 'priority', targets: '/\nopenai/' }).map(({ name }) => name)).toEqual(['openai/?']);
    expect(stepsOf({ strategy: 'weighted', targets: 'openai/a ×x %' })).toMatchObject([{ label: '?', share: null }]);
    expect(prepareAliasRoute({}, context)).toMatchObject({ start: 'the alias', steps: [] });
  });

  test.each([
    ['', true, 'error to the caller'],
    ['on', true, 'preset chain of each target, then an error'],
    ['off', false, 'error to the caller, no other target'],
  ])('failover %j', (failover, goesOn, end) => {
    expect(prepareAliasRoute({ targets: ROWS, failover }, context)).toMatchObject({ goesOn, end });
  });

  test('a target without a price is marked, and one that is being typed is not', () => {
    const steps = stepsOf({ strategy: 'priority', targets: 'openai/nova\nopenai/gpt-4o\nopenai/' });
    expect(steps.map(({ isUnpriced }) => isUnpriced)).toEqual([true, false, false]);
  });

  test('conditions are said', () => {
    expect(notesOf({ session_affinity: true, retry_timeouts: true }).length).toBe(2);
    expect(notesOf({ session_affinity: false })).toEqual([]);
  });
});

test('a chain goes on from the requested model, and may end at a local one', () => {
  const values = { targets: 'openai/gpt-4o\nanthropic/claude' };
  const route = prepareChainRoute(values, { ...context, localTier: 'flagship' });
  expect(route).toMatchObject({ startFails: true, goesOn: true, end: 'local model (flagship), then an error' });
  expect(route.steps.map(({ label }) => label)).toEqual(['fails', null]);
  expect(prepareChainRoute(values, context).end).toBe('error to the caller');
});
