import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { cellsOf, prepareRoute, ROUTE_WIDTH, type Route, type RouteStep } from './prepare-route';

const step = fc.record({
  name: fc.string({ minLength: 1, maxLength: 80 }),
  label: fc.option(fc.constantFrom('75 %', 'first', 'cheapest')),
  share: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  isSkipped: fc.boolean(),
});
const route = fc.record({
  start: fc.string({ maxLength: 80 }),
  steps: fc.array(step, { maxLength: 20 }),
  goesOn: fc.boolean(),
  end: fc.string({ maxLength: 80 }),
});

describe('a route', () => {
  test('has its boxes within the drawing, one below the other, in their order', () => {
    fc.assert(
      fc.property(route, (given) => {
        const { nodes, height } = prepareRoute(given);
        expect(nodes.map(({ name }) => name)).toEqual([
          ...[given.start, ...given.steps.map(({ name }) => name), given.end],
        ]);
        expect(new Set(nodes.map(({ key }) => key)).size).toBe(nodes.length);
        let bottom = -1;
        for (const node of nodes) {
          expect([node.x >= 0, node.x + node.width <= ROUTE_WIDTH, node.y > bottom]).toEqual([true, true, true]);
          // Letters of this size are about six units wide.
          expect(node.text.length * 6).toBeLessThan(node.width);
          bottom = node.y + node.height;
        }
        expect(bottom).toBe(height);
      }),
    );
  });

  test('has an arrow to each stop where requests begin, and one from each that fails', () => {
    fc.assert(
      fc.property(route, (given) => {
        const { edges } = prepareRoute(given);
        const begun = edges.filter(({ kind }) => kind === 'begins');
        expect(begun.length).toBe(given.steps.filter(({ label }) => label !== null).length);
        expect(edges.length - begun.length).toBe(Math.max(1, given.steps.length));
        expect(edges.every(({ path, head }) => !/NaN|undefined/.test(path + head))).toBe(true);
        expect(new Set(edges.map(({ key }) => key)).size).toBe(edges.length);
      }),
    );
  });

  const stop = (name: string, more: Partial<RouteStep> = {}): RouteStep => ({
    ...{ name, label: null, share: null, isSkipped: false, ...more },
  });
  const drawn = (more: Partial<Route>) =>
    prepareRoute({ start: 'smart', steps: [stop('a'), stop('b')], goesOn: true, end: 'error', ...more });

  test('shares are widths; the widest is drawn first', () => {
    const steps = [
      stop('a', { label: '25 %', share: 0.25 }),
      stop('b', { label: '75 %', share: 0.75 }),
      stop('c', { label: '0 %', share: 0 }),
    ];
    const begun = drawn({ steps }).edges.filter(({ kind }) => kind === 'begins');
    expect(begun.map(({ label, width }) => [label?.text, width])).toEqual([
      ['75 %', 6],
      ['25 %', 2],
      ['0 %', 1.5],
    ]);
  });

  test('a failure leads to the next stop, or past all others to the end', () => {
    const ends = (goesOn: boolean) => {
      const { edges, nodes } = drawn({ goesOn });
      const tops = new Map(nodes.map(({ key, y }) => [y, key]));
      return edges.map(({ head }) => tops.get(Number(/^M\S+ (\d+)/.exec(head)?.[1]) + 6));
    };
    expect(ends(true)).toEqual(['1 b', 'end']);
    expect(ends(false)).toEqual(['end', 'end']);
  });

  test('says the same in words', () => {
    const steps = [stop('a', { label: 'first', share: 1 }), stop('b', { isSkipped: true })];
    const route = { start: 'smart', steps, goesOn: true, end: 'error' };
    expect(cellsOf(route)).toEqual([
      ['1. a', 'first', 'b'],
      ['2. b (not set up: skipped)', 'none', 'error'],
    ]);
    const unpriced = { ...route, steps: [stop('c', { isUnpriced: true })] };
    expect(cellsOf(unpriced)[0]?.[0]).toBe('1. c (no price: skipped under a cap)');
    expect(cellsOf({ ...route, goesOn: false }).map(([, , end]) => end)).toEqual(['error', 'error']);
    expect(cellsOf({ ...route, startFails: true })[0]).toEqual(['1. a', 'none', 'b']);
  });

  test('a start that fails leads on with a dashed arrow', () => {
    const { edges } = drawn({ steps: [stop('a', { label: 'fails' })], startFails: true });
    expect(edges.map(({ kind, label }) => [kind, label?.text])).toEqual([
      ['fails', 'fails'],
      ['fails', 'if it fails'],
    ]);
  });
});
