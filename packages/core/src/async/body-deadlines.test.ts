import { expect, test } from 'bun:test';
import { BodyDeadlines, readTimeMs } from './bounded-body';

const late = () => new Error('late');

test('a read that takes too long is given up, another one is not', async () => {
  const reads = new BodyDeadlines({ graceMs: 20, sweepMs: 5 });
  const startMs = performance.now();
  const [trickling, fair, larger] = await Promise.allSettled([
    reads.read(new Promise(() => {}), 10, late),
    reads.read(Promise.resolve('text'), 10, late),
    // 32 bytes a millisecond: it has three times as long.
    reads.read(
      Bun.sleep(40).then(() => 'more'),
      32 * 1000,
      late,
    ),
  ]);
  expect(trickling).toMatchObject({ status: 'rejected', reason: { message: 'late' } });
  expect(fair).toMatchObject({ value: 'text' });
  expect(larger).toMatchObject({ value: 'more' });
  expect(performance.now() - startMs).toBeLessThan(2000);
});

test('a body that breaks off is of a caller who left; why is kept', async () => {
  const reads = new BodyDeadlines();
  const cause = new Error('gone');
  const failed = reads.read(Promise.reject(cause), 1, late);
  await expect(failed).rejects.toMatchObject({ kind: 'client_closed', cause });
});

test('the timer goes when nothing is read, and comes again', async () => {
  const reads = new BodyDeadlines({ graceMs: 5, sweepMs: 1 });
  for (let round = 0; round < 2; round++) {
    await expect(reads.read(new Promise(() => {}), 1, late)).rejects.toThrow('late');
    await Bun.sleep(10);
  }
});

test('half a minute, and a second for each 32 kB', () => {
  expect(readTimeMs(0)).toBe(30_000);
  expect(readTimeMs(256_000)).toBe(38_000);
});
