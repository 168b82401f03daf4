import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { LinkedSet, type Place, ReleasingMap } from './linked-set';

const step = fc.record({ adds: fc.boolean(), key: fc.integer({ min: 0, max: 12 }) });

describe('collections of what comes and goes', () => {
  test('a linked set is a set in order of arrival', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const set = new LinkedSet<number>();
        const places = new Map<number, Place<number>>();
        for (const { adds, key } of steps) {
          const place = places.get(key);
          if (adds && place === undefined) places.set(key, set.add(key));
          else if (!adds && place !== undefined) {
            expect(set.remove(place)).toBe(true);
            expect(set.remove(place)).toBe(false);
            places.delete(key);
          }
          expect([...set]).toEqual([...places.keys()]);
          expect([set.size, set.oldest]).toEqual([places.size, [...places.keys()][0]]);
        }
      }),
    );
  });

  test('a member may be its own place, and come again', () => {
    class Member implements Place<Member> {
      value: Member | undefined;
      before: Place<Member> | undefined;
      after: Place<Member> | undefined;
    }
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const set = new LinkedSet<Member>();
        const members = Array.from({ length: 13 }, () => new Member());
        const expected = new Set<Member>();
        for (const { adds, key } of steps) {
          const member = members[key] as Member;
          expect(expected.delete(member)).toBe(adds ? member.value !== undefined : set.remove(member));
          if (adds) set.append(member, member);
          if (adds) expected.add(member);
          expect([...set]).toEqual([...expected]);
          expect(set.size).toBe(expected.size);
        }
      }),
    );
  });

  test('members may go and come while a linked set is walked', () => {
    const set = new LinkedSet<string>();
    const [a, b, c] = ['a', 'b', 'c'].map((value) => set.add(value));
    const seen: string[] = [];
    for (const value of set) {
      seen.push(value);
      if (value === 'a') for (const place of [a, b]) if (place !== undefined) set.remove(place);
      if (value === 'c') set.add('d');
    }
    expect(seen).toEqual(['a', 'c']);
    expect([...set]).toEqual(['c', 'd']);
    expect(c?.value).toBe('c');
  });

  test('a releasing map is a map', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 80 }), (steps) => {
        const map = new ReleasingMap<number, object>();
        const model = new Map<number, object>();
        for (const [{ adds, key }, clears] of steps) {
          const value = {};
          if (adds) {
            map.set(key, value);
            model.set(key, value);
          } else if (clears && key === 0) {
            map.clear();
            model.clear();
          } else expect(map.delete(key)).toBe(model.delete(key));
          expect([...map]).toEqual([...model]);
          expect([...map.values()]).toEqual([...model.values()]);
          expect([map.size, map.has(key), map.get(key)]).toEqual([model.size, model.has(key), model.get(key)]);
        }
      }),
    );
  });

  test('sent data is collected young', async () => {
    const shareOfFull = async (kind: string): Promise<number> => {
      const child = Bun.spawn([process.execPath, '--no-env-file', join(import.meta.dir, 'churn.fixture.ts'), kind], {
        env: { ...process.env, BUN_JSC_logGC: '1', BUN_JSC_forceRAMSize: String(256 * 1024 * 1024) },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const log = await new Response(child.stderr).text();
      expect(await child.exited).toBe(0);
      const count = (what: string) => log.split(`=> ${what}Collection`).length - 1;
      expect(count('Eden')).toBeGreaterThan(40);
      return count('Full') / (count('Eden') + count('Full'));
    };
    const [plain, linked, releasing] = await Promise.all(['map', 'linked', 'releasing'].map(shareOfFull));
    // Should that of the runtime's own get as good as these, they may go.
    expect(plain).toBeGreaterThan(0.15);
    expect(linked).toBeLessThan(0.08);
    expect(releasing).toBeLessThan(0.08);
  });
});
