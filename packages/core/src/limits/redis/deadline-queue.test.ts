import { expect, test } from 'bun:test';
import { DeadlineQueue } from './deadline-queue';

test(
  'whoever is not answered in time expires, once, shortly after',
  async () => {
    const queue = new DeadlineQueue(40);
    const startMs = performance.now();
    const expired: number[] = [];
    const answered = queue.add(() => expired.push(-1));
    queue.add(() => expired.push(performance.now() - startMs));
    answered();
    await Bun.sleep(150);
    expect(expired).toHaveLength(1);
    expect(expired[0]).toBeGreaterThanOrEqual(40);
    expect(expired[0]).toBeLessThan(90);
  },
  { retry: 2 },
);

test('while others are answered those in line wait; when it stops they expire', async () => {
  const queue = new DeadlineQueue(40);
  const expired: number[] = [];
  const startMs = performance.now();
  const answers = Array.from({ length: 60 }, () => queue.add(() => expired.push(0)));
  queue.add(() => expired.push(performance.now() - startMs));
  for (const answer of answers) {
    await Bun.sleep(2);
    answer();
  }
  const stoppedMs = performance.now() - startMs;
  expect(stoppedMs).toBeGreaterThan(100);
  expect(expired).toEqual([]);
  await Bun.sleep(100);
  expect(expired).toHaveLength(1);
  expect(expired[0]).toBeLessThan(stoppedMs + 60);
});

test('time in which this process was too busy to read does not count', async () => {
  const queue = new DeadlineQueue(40);
  const expired: number[] = [];
  const startMs = performance.now();
  queue.add(() => expired.push(performance.now() - startMs));
  await Bun.sleep(1);
  const busyUntilMs = performance.now() + 120;
  while (performance.now() < busyUntilMs) Math.sqrt(busyUntilMs);
  await Bun.sleep(1);
  expect(expired).toEqual([]);
  await Bun.sleep(120);
  expect(expired).toHaveLength(1);
});

test(
  'nobody waits for ever, however busy the other side',
  async () => {
    const queue = new DeadlineQueue(10);
    const expired: number[] = [];
    const startMs = performance.now();
    queue.add(() => expired.push(performance.now() - startMs));
    while (expired.length === 0 && performance.now() - startMs < 1_000) {
      queue.add(() => {})();
      await Bun.sleep(1);
    }
    expect(expired[0]).toBeGreaterThanOrEqual(90);
    expect(expired[0]).toBeLessThan(250);
  },
  { retry: 2 },
);
