import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../config/config';
import { createWallClock } from './wall-clock';

test('without a file the clock is the machine’s', () => {
  const clock = createWallClock(undefined);
  expect(Math.abs(clock.nowMs() - Date.now())).toBeLessThan(100);
});

test('the file’s offset holds within a moment, and nonsense changes nothing', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'llm0-clock-'));
  const file = join(dir, 'offset');
  const clock = createWallClock(file);
  try {
    expect(Math.abs(clock.nowMs() - Date.now())).toBeLessThan(100);
    writeFileSync(file, '86400000\n');
    await Bun.sleep(200);
    expect(Math.abs(clock.nowMs() - Date.now() - 86_400_000)).toBeLessThan(100);
    writeFileSync(file, 'tomorrow');
    await Bun.sleep(200);
    expect(Math.abs(clock.nowMs() - Date.now() - 86_400_000)).toBeLessThan(100);
  } finally {
    clock.stop();
    rmSync(dir, { recursive: true });
  }
});

test('the hooks of the tests stop a start in production', () => {
  expect(readConfig({ LLM0_TEST_LEASE_MS: '2000' }).testing.leaseMs).toBe(2000);
  expect(Object.values(readConfig({}).testing).filter((value) => value !== undefined)).toEqual([]);
  for (const name of ['LLM0_TEST_LEASE_MS', 'LLM0_TEST_CLOCK_FILE']) {
    expect(() => readConfig({ ENVIRONMENT: 'production', [name]: '2000' })).toThrow(`${name}=2000`);
  }
  expect(() => readConfig({ LLM0_TEST_LEASE_MS: '1' })).toThrow('LLM0_TEST_LEASE_MS=1');
});
