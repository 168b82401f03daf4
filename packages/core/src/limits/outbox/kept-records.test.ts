import { expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { KeptRecords } from './kept-records';

interface Modelled {
  readonly ms: number;
  readonly sequence: number;
  readonly record?: string;
  readonly requestId?: string;
  readonly inFile: boolean;
}

test('keeps and drops as a list would, whatever the records are', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom('x'.repeat(3_000), 'ü€😀'.repeat(20_000), 'x'.repeat(600_000)),
  );
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('add' as const),
        text,
        copies: fc.integer({ min: 1, max: 300 }),
        inFile: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('file' as const) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('drop' as const),
        share: fc.double({ min: 0, max: 1.2, noNaN: true }),
        most: fc.integer({ min: 0, max: 2_000 }),
      }),
    },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const kept = new KeptRecords();
      let model: Modelled[] = [];
      let bytes = 0;
      let n = 0;
      for (const one of steps) {
        if (one.do === 'add') {
          // Such long ones once each: a thousand of them would be all that the test does.
          const copies = one.text.length > 1_000 ? Math.min(3, one.copies) : one.copies;
          for (let i = 0; i < copies; i++, n++) {
            const [ms, sequence] = [1_764_000_000_000 + Math.floor(n / 7), n % 7];
            const record = one.text.toWellFormed();
            model.push({ ms, sequence, record, inFile: one.inFile });
            bytes += kept.add(`${ms}-${sequence}`, record, one.inFile);
          }
        } else if (one.do === 'file') {
          const [ms, sequence] = [1_764_000_000_000 + Math.floor(n / 7), n % 7];
          model.push({ ms, sequence, requestId: `request-${n}`, inFile: true });
          kept.addFiled(`${ms}-${sequence}`, `request-${n}`);
          n++;
        } else {
          const first = model[Math.floor(one.share * model.length)];
          const index = first === undefined ? model.length : model.indexOf(first);
          const gone = model.slice(0, Math.min(index, one.most));
          const dropped = kept.dropBefore(first === undefined ? '' : `${first.ms}-${first.sequence}`, one.most);
          expect(dropped.inFile).toBe(gone.filter(({ inFile }) => inFile).length);
          expect(dropped.bytes).toBe(gone.reduce((sum, { record = '' }) => sum + Buffer.byteLength(record), 0));
          bytes -= dropped.bytes;
          model = model.slice(gone.length);
        }
        expect(kept.count).toBe(model.length);
      }
      expect(bytes).toBe(model.reduce((sum, { record = '' }) => sum + Buffer.byteLength(record), 0));
      const expected = model.map(({ record, requestId, inFile }) =>
        record === undefined ? { requestId } : { record, inFile },
      );
      expect([...kept.all()] as unknown[]).toEqual(expected);
    }),
    { numRuns: runs(150) },
  );
}, 20_000);
