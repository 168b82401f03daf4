import { describe, expect, test } from 'bun:test';
import type { ChaosStores } from './chaos-options';
import { readChaosCommand } from './chaos-options';
import { Random } from './random';
import { runChaos } from './run-chaos';

const RUN_MS = 20_000;
const TEST_MS = 240_000;

describe.each(['real', 'embedded'] as const satisfies readonly ChaosStores[])('chaos on %s stores', (stores) => {
  test(
    'whatever breaks, every answer has one row, counters are their sums, no hold is left',
    async () => {
      const { options } = readChaosCommand(['--stores', stores, '--seed', String(Date.now() % 100_000)]);
      const lines: string[] = [];
      const say = (line: string) => void lines.push(line);
      const result = await runChaos({ ...options, lanes: 12, durationMs: RUN_MS, leastAnswers: 120, say });
      const { missing, doubled, unevenBudgets, differenceNanoUsd, rollupDifferenceNanoUsd, holds, queued } =
        result.ledger;
      const found = { missing, doubled, unevenBudgets, differenceNanoUsd, rollupDifferenceNanoUsd, holds, queued };
      const even = {
        missing: [],
        doubled: [],
        unevenBudgets: [],
        differenceNanoUsd: 0,
        rollupDifferenceNanoUsd: 0,
        holds: 0,
        queued: 0,
      };
      if (!result.isEven) console.error(`seed ${options.seed}\n${lines.join('\n')}`);
      expect(found).toEqual(even);
      expect(result.crashes).toBe(0);
      expect(result.ledger.answered).toBeGreaterThan(100);
      expect(result.events.size).toBeGreaterThan(1);
    },
    TEST_MS,
  );
});

test('the same seed gives the same numbers, another one others', () => {
  const draw = (seed: number) => {
    const random = new Random(seed);
    return Array.from({ length: 20 }, () => random.next());
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
  expect(draw(7).every((x) => x >= 0 && x < 1)).toBe(true);
});

test('a wrong option stops the command and says which', () => {
  expect(() => readChaosCommand(['--minutes', 'ten'])).toThrow('--minutes ten');
  expect(() => readChaosCommand(['--stores', 'none'])).toThrow('--stores none');
  expect(() => readChaosCommand(['--stores', 'embedded', '--replicas', '2'])).toThrow('--replicas');
  expect(readChaosCommand(['--minutes', '10', '--seeds', '3']).options.durationMs).toBe(600_000);
});
