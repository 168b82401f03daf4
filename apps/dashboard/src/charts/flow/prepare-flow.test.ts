import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Flows } from '../../api/stats';
import { COLUMNS, describeRibbon, type FlowMap, prepareFlow, shareFailed } from './prepare-flow';

type Given = Flows['data'][number];

const flow = (project: string, model: string, provider: string, more: Partial<Given> = {}): Given => ({
  ...{ project_id: project, requested_model: model, provider, cached: false, requests: 1, failed: 0 },
  ...{ success: (more.requests ?? 1) - (more.failed ?? 0), ...more },
});
const prepare = (data: Given[]): FlowMap =>
  prepareFlow(
    { requests: data.reduce((sum, { requests }) => sum + requests, 0), sampled: false, data },
    (id) => `project ${id}`,
  );

const flows = fc.array(
  fc.record({
    project: fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8'),
    model: fc.constantFrom('fast', 'gpt-4o', 'caller', 'other', 'cache', 'none'),
    provider: fc.constantFrom('openai', 'anthropic', '', 'cache', 'other'),
    cached: fc.boolean(),
    requests: fc.integer({ min: 1, max: 5000 }),
    failedShare: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { minLength: 1, maxLength: 40 },
);

describe('the map', () => {
  test('each column has all requests; nodes do not overlap and stay within the height', () => {
    fc.assert(
      fc.property(flows, (made) => {
        const data = made.map(({ project, model, provider, cached, requests, failedShare }) =>
          flow(project, model, provider, { cached, requests, failed: Math.floor(failedShare * requests) }),
        );
        const map = prepare(data);
        const sum = (all: readonly { requests: number; failed: number }[]) =>
          all.reduce<readonly [number, number]>(
            ([requests, failed], one) => [requests + one.requests, failed + one.failed],
            [0, 0],
          );
        for (const name of COLUMNS) {
          const nodes = map.columns[name];
          expect(nodes.length).toBeLessThanOrEqual(6);
          expect(sum(nodes)).toEqual(sum(data));
          let endsAt = 0;
          for (const { top, height } of nodes) {
            expect(top).toBeGreaterThanOrEqual(endsAt);
            endsAt = top + height;
          }
          expect(endsAt).toBeLessThanOrEqual(map.height);
        }
        // The fullest column leaves no band above and below.
        const extents = COLUMNS.map((name) => {
          const [first, last] = [map.columns[name][0], map.columns[name].at(-1)];
          return (last?.top ?? 0) + (last?.height ?? 0) - (first?.top ?? 0);
        });
        expect(Math.max(...extents)).toBeGreaterThan(map.height - 8);
        for (const ribbons of map.ribbons) {
          expect(sum(ribbons)).toEqual(sum(data));
          for (const { path } of ribbons) expect(path).toMatch(/^M0 [\d.]+C50 [\d. ]+ 100 [\d.]+V[\d.]+C[\d. ]+Z$/);
        }
      }),
    );
  });

  const map = prepare([
    flow('a', 'fast', 'openai', { requests: 60, failed: 40 }),
    flow('a', 'fast', 'anthropic', { requests: 30, failed: 3 }),
    flow('b', 'fast', 'openai', { requests: 10, cached: true }),
    flow('b', 'unknown', '', { requests: 5 }),
  ]);

  test('nodes and ribbons lead to exactly their requests', () => {
    expect(map.columns.caller.map(({ label, filter }) => [label, filter])).toEqual([
      ['project a', { project: 'a' }],
      ['project b', { project: 'b' }],
    ]);
    expect(map.columns.target.map(({ label, filter }) => [label, filter])).toEqual([
      ['openai', { provider: 'openai', sent: 'true' }],
      ['anthropic', { provider: 'anthropic', sent: 'true' }],
      ['Cache', { cache: ['exact', 'semantic'] }],
      ['Not sent', { sent: 'false', cache: 'miss' }],
    ]);
    expect(map.ribbons[1].map(({ kind, filter }) => [kind, filter])).toEqual([
      ['mostly', { requested_model: 'fast', provider: 'openai', sent: 'true' }],
      ['some', { requested_model: 'fast', provider: 'anthropic', sent: 'true' }],
      ['cache', { requested_model: 'fast', cache: ['exact', 'semantic'] }],
      ['none', { requested_model: 'unknown', sent: 'false', cache: 'miss' }],
    ]);
  });

  test('a ribbon in words', () => {
    const said = map.ribbons.flat().map((ribbon) => describeRibbon(map, ribbon));
    expect(said.slice(0, 2)).toEqual([
      'project a → fast: 90 requests, 43 failed (47.8 %)',
      'project b → fast: 10 requests',
    ]);
    expect(said).toContain('fast → openai: 60 requests, 40 failed (66.7 %)');
    expect(said).toContain('unknown → Not sent: 5 requests');
  });

  test('a target fails as often as its health says: what the cache repeats is no answer of it', () => {
    const openai = map.columns.target.find(({ label }) => label === 'openai');
    expect(openai).toMatchObject({ requests: 60, failed: 40 });
    expect(openai && shareFailed(openai)).toBeCloseTo(40 / 60, 10);
    const onlyRepeated = prepare([flow('a', 'm', 'openai', { cached: true })]);
    expect(onlyRepeated.columns.target.map(({ label }) => label)).toEqual(['Cache']);
  });

  test('errors of callers are no part of the share', () => {
    const mixed = prepare([flow('a', 'm', 'openai', { requests: 9, success: 1, failed: 1 })]);
    const [ribbon] = mixed.ribbons[0];
    expect(ribbon && describeRibbon(mixed, ribbon)).toBe(
      'project a → m: 9 requests, 1 failed (50.0 % of 2 answered or failed)',
    );
  });

  test('beyond six, the rest is one node that comes last', () => {
    const many = prepare(Array.from({ length: 9 }, (_, index) => flow(`${index}`, 'm', 'p', { requests: 10 - index })));
    expect(many.columns.caller.map(({ label }) => label)).toEqual([
      ...['project 0', 'project 1', 'project 2', 'project 3', 'project 4', '4 others'],
    ]);
    expect(many.columns.caller.at(-1)).toMatchObject({ requests: 14, filter: null });
  });
});
