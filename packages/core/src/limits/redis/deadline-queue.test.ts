import { expect, test } from 'bun:test';
import { until } from '../hot-store.cases';
import { DeadlineQueue } from './admit';

// Long enough that a busy machine does not decide.
const DEADLINE_MS = 200;

test('unanswered readers expire once, shortly after', async () => {
  const queue = new DeadlineQueue(DEADLINE_MS);
  const startMs = performance.now();
  const expired: number[] = [];
  const answered = queue.add(() => expired.push(-1));
  queue.add(() => expired.push(performance.now() - startMs));
  answered();
  await until(async () => expired.length > 0);
  await Bun.sleep(DEADLINE_MS / 4);
  expect(expired).toHaveLength(1);
  expect(expired[0]).toBeGreaterThanOrEqual(DEADLINE_MS);
  expect(expired[0]).toBeLessThan(2.25 * DEADLINE_MS);
});

test('while others are answered those in line wait; when it stops they expire', async () => {
  const queue = new DeadlineQueue(DEADLINE_MS);
  const expired: number[] = [];
  const startMs = performance.now();
  const answers = Array.from({ length: 300 }, () => queue.add(() => expired.push(0)));
  queue.add(() => expired.push(performance.now() - startMs));
  for (const answer of answers) {
    await Bun.sleep(2);
    answer();
  }
  const stoppedMs = performance.now() - startMs;
  expect(stoppedMs).toBeGreaterThan(2.5 * DEADLINE_MS);
  expect(expired).toEqual([]);
  await until(async () => expired.length > 0);
  expect(expired).toHaveLength(1);
  expect(expired[0]).toBeLessThan(stoppedMs + 1.5 * DEADLINE_MS);
});

test('time in which this process was too busy to read does not count', async () => {
  const queue = new DeadlineQueue(DEADLINE_MS);
  const expired: number[] = [];
  const startMs = performance.now();
  queue.add(() => expired.push(performance.now() - startMs));
  await Bun.sleep(1);
  const busyUntilMs = performance.now() + 3 * DEADLINE_MS;
  while (performance.now() < busyUntilMs) Math.sqrt(busyUntilMs);
  await Bun.sleep(1);
  expect(expired).toEqual([]);
  await until(async () => expired.length > 0);
  expect(expired).toHaveLength(1);
});

test('no call waits forever, however busy the other side', async () => {
  const deadlineMs = DEADLINE_MS / 4;
  const queue = new DeadlineQueue(deadlineMs);
  const expired: number[] = [];
  const startMs = performance.now();
  queue.add(() => expired.push(performance.now() - startMs));
  while (expired.length === 0 && performance.now() - startMs < 100 * deadlineMs) {
    queue.add(() => {})();
    await Bun.sleep(1);
  }
  expect(expired[0]).toBeGreaterThanOrEqual(9 * deadlineMs);
  expect(expired[0]).toBeLessThan(25 * deadlineMs);
});
