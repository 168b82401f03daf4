import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ID_BYTES, KnownIds, writeId } from './known-ids';

const bytesOf = (ids: readonly string[]) => {
  const bytes = Buffer.alloc(ids.length * ID_BYTES);
  for (const [nth, id] of ids.entries()) writeId(bytes, id, nth * ID_BYTES);
  return bytes;
};

test('it knows exactly the ids since its first batch', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.uuid(), { minLength: 1, maxLength: 30 }), { maxLength: 20 }), (batches) => {
      const known = new KnownIds(0, 50);
      for (const [nth, ids] of batches.entries()) {
        known.add({ seq: nth + 1, storedAtMs: nth * 1000 }, bytesOf(ids), ID_BYTES);
      }
      const since = known.since?.seq ?? 1;
      const kept = new Set(batches.slice(since - 1).flat());
      for (const id of batches.flat()) expect(known.has(id)).toBe(kept.has(id));
      for (const id of batches.flat()) expect(known.has(id.toUpperCase())).toBe(kept.has(id));
      expect(known.has(crypto.randomUUID())).toBe(false);
      expect(known.lastSeq).toBe(batches.length);
      if (since > 1) expect(kept.size).toBeGreaterThanOrEqual(40);
    }),
  );
});

test('many ids stay apart', () => {
  const known = new KnownIds(0);
  const ids = Array.from({ length: 20_000 }, () => Bun.randomUUIDv7());
  known.add({ seq: 1, storedAtMs: 5 }, bytesOf(ids), ID_BYTES);
  expect(ids.every((id) => known.has(id))).toBe(true);
  expect(ids.some((id) => known.has(id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))))).toBe(false);
  expect(known.since).toEqual({ seq: 1, storedAtMs: 5 });
});
