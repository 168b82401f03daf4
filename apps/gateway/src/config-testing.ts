import { ConfigError, type EnvReader } from './config-values';

/** For tests of whole processes only; refused in production. */
export interface TestSettings {
  /** A file with milliseconds to add to the wall clock, looked at again and again (see `wall-clock.ts`). */
  readonly clockFile?: string;
  /** Lease of a hold instead of 60 s. */
  readonly leaseMs?: number;
}

const LEASE_RANGE = { min: 500, max: 60_000 };

/** Reads `LLM0_TEST_CLOCK_FILE` and `LLM0_TEST_LEASE_MS`; throws `ConfigError` when either is set in production. */
export function readTestSettings(read: EnvReader, environment: string): TestSettings {
  const clockFile = read.text('LLM0_TEST_CLOCK_FILE');
  const lease = read.text('LLM0_TEST_LEASE_MS');
  if (environment === 'production' && (clockFile ?? lease) !== undefined) {
    const name = clockFile === undefined ? 'LLM0_TEST_LEASE_MS' : 'LLM0_TEST_CLOCK_FILE';
    throw new ConfigError(name, clockFile ?? lease ?? '', 'this is for tests only and refused in production');
  }
  const leaseMs = lease === undefined ? undefined : read.integer('LLM0_TEST_LEASE_MS', 0, LEASE_RANGE);
  return { clockFile, leaseMs };
}
