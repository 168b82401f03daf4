import { describe, expect, test } from 'bun:test';
import { BenchOptionError, parseOptions } from './options';
import { choosePlan, listScenarios } from './scenarios/choose-plan';
import { SCENARIOS } from './scenarios/scenarios';

describe('options', () => {
  test('have sensible defaults', () => {
    expect(parseOptions([])).toMatchObject({
      scenarios: [],
      connections: [10],
      trials: 3,
      stores: 'real',
      workers: 1,
      warmUpSeconds: 25,
      compare: [],
    });
  });

  test('are read', () => {
    const text =
      'hit miss --duration 2 --connections 10,50 --rate 100 --workers 2 --url http://h:1/v1/ --key k ' +
      '--compare other=http://h:2/v1 --compare http://h:3 --compare-header X-A:b';
    expect(parseOptions(text.split(' '))).toMatchObject({
      compareHeaders: { 'x-a': 'b' },
      scenarios: ['hit', 'miss'],
      seconds: 2,
      connections: [10, 50],
      rate: 100,
      workers: 2,
      url: 'http://h:1',
      key: 'k',
      compare: [
        { name: 'other', url: 'http://h:2' },
        { name: 'h:3', url: 'http://h:3' },
      ],
    });
  });

  test.each([
    ['--duration x', /--duration/],
    ['--connections 10,', /--connections/],
    ['--stores both', /real, embedded/],
    ['--workers 2 --stores embedded', /--stores real/],
    ['--url http://h', /--key/],
    ['--compare h:1', /\[name=\]URL/],
    ['--compare-header x', /name: value/],
    ['--nonsense', /nonsense/],
  ])('%s is refused', (text, message) => {
    expect(() => parseOptions(text.split(' '))).toThrow(BenchOptionError);
    expect(() => parseOptions(text.split(' '))).toThrow(message);
  });
});

describe('the plan', () => {
  const names = (chosen: readonly string[]) => {
    const { scenarios, specials } = choosePlan(chosen);
    return [...scenarios, ...specials].map(({ name }) => name);
  };

  test('without names is what takes minutes, not hours', () => {
    expect(names([])).toContain('hit');
    expect(names([])).not.toContain('sustained');
    expect(names([])).not.toContain('rows-10m');
  });

  test('takes names and families, in the order of the tables', () => {
    expect(names(['rows-10m', 'large-payload', 'hit'])).toEqual([
      'hit',
      'large-100k',
      'large-300k',
      'large-1m',
      'rows-10m',
    ]);
    expect(names(['all'])).toEqual(expect.arrayContaining(['endurance', 'burst', 'start']));
    expect(() => choosePlan(['hits'])).toThrow(/unknown scenario hits/);
  });

  test('every scenario is listed, and named once', () => {
    const all = names(['all']);
    expect(new Set(all).size).toBe(all.length);
    for (const name of all) expect(listScenarios()).toContain(`  ${name} `);
  });

  test('no scenario expects refusals and answers at once', () => {
    for (const { targets, expectStatus } of SCENARIOS) {
      // Whoever else is loaded answers 200: refusals are compared with the floor alone.
      if (expectStatus !== 200) expect(targets).toEqual(['floor', 'gateway']);
    }
  });
});
