import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ChangeMarks } from './change-marks';

const resourceArb = fc.integer({ min: 0, max: 40 }).map((n) => Bun.CryptoHasher.hash('sha256', String(n), 'hex'));

test('a changed object has a new tag and a new change time', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(resourceArb, fc.constantFrom('one', 'all')), { maxLength: 60 }), (changes) => {
      const marks = new ChangeMarks();
      const taken = new Map<string, number>();
      let nowMs = 0;
      for (const [resource, what] of changes) {
        for (const [one] of changes) taken.set(one, marks.markOf(one));
        nowMs += 1;
        if (what === 'all') marks.noteAll();
        else marks.note(resource, nowMs);
        const changed = what === 'all' ? [...taken.keys()] : [resource];
        for (const one of changed) expect(marks.markOf(one)).not.toBe(taken.get(one) ?? -1);
        if (what === 'one') expect(marks.changedAtMs(resource)).toBe(nowMs);
      }
    }),
  );
});
