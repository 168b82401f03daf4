import { ConfigError, type EnvReader } from './values';

/** For tests of whole processes only; refused in production. */
export interface TestSettings {
  /** A file with milliseconds to add to the wall clock, looked at again and again (see `wall-clock.ts`). */
  readonly clockFile?: string;
  /** Lease of a hold instead of 60 s. */
  readonly leaseMs?: number;
  /** How long an admission may wait for Redis instead of 80 ms: for test machines that are too busy. */
  readonly admitDeadlineMs?: number;
  /** How long a look-up of the warm tier may take instead of 100 ms, a semantic one instead of 150, for the same reason. */
  readonly lookUpDeadlineMs?: number;
}

const NAMES = [
  'LLM0_TEST_CLOCK_FILE',
  'LLM0_TEST_LEASE_MS',
  'LLM0_TEST_ADMIT_DEADLINE_MS',
  'LLM0_TEST_LOOK_UP_DEADLINE_MS',
] as const;
const MS_RANGE = { min: 10, max: 60_000 };

/** Reads the `LLM0_TEST_*` names; throws `ConfigError` when one is set in production. */
export function readTestSettings(read: EnvReader, environment: string): TestSettings {
  const set = NAMES.find((name) => read.text(name) !== undefined);
  if (environment === 'production' && set !== undefined) {
    throw new ConfigError(set, read.text(set) ?? '', 'this is for tests only and refused in production');
  }
  const milliseconds = (name: (typeof NAMES)[number]) =>
    read.text(name) === undefined ? undefined : read.integer(name, 0, MS_RANGE);
  return {
    clockFile: read.text('LLM0_TEST_CLOCK_FILE'),
    leaseMs: milliseconds('LLM0_TEST_LEASE_MS'),
    admitDeadlineMs: milliseconds('LLM0_TEST_ADMIT_DEADLINE_MS'),
    lookUpDeadlineMs: milliseconds('LLM0_TEST_LOOK_UP_DEADLINE_MS'),
  };
}
