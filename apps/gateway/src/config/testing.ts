import { ConfigError, type EnvReader } from './values';

const NAMES = [
  'LLM0_TEST_CLOCK_FILE',
  'LLM0_TEST_LEASE_MS',
  'LLM0_TEST_ADMIT_DEADLINE_MS',
  'LLM0_TEST_LOOK_UP_DEADLINE_MS',
  'LLM0_TEST_FAILURES_PER_SECOND',
  'LLM0_TEST_POSTGRES_SOCKET',
  'LLM0_TEST_LINGER_MS',
  'LLM0_TEST_BREAKER_MS',
] as const;
const MS_RANGE = { min: 10, max: 60_000 };

/** For tests of whole processes only: throws `ConfigError` when one is set in production. */
export function readTestSettings(read: EnvReader, environment: string) {
  const set = NAMES.find((name) => read.text(name) !== undefined);
  if (environment === 'production' && set !== undefined) {
    throw new ConfigError(set, read.text(set) ?? '', 'this is for tests only and refused in production');
  }
  return {
    /** A file with milliseconds to add to the wall clock, looked at again and again (see `process/wall-clock.ts`). */
    clockFile: read.text('LLM0_TEST_CLOCK_FILE'),
    /** Lease of a hold instead of 60 s. */
    leaseMs: read.optionalInteger('LLM0_TEST_LEASE_MS', MS_RANGE),
    /** Redis deadline of an admission instead of 80 ms, for overloaded test machines. */
    admitDeadlineMs: read.optionalInteger('LLM0_TEST_ADMIT_DEADLINE_MS', MS_RANGE),
    /** Refusals a second that a key may have instead of 10: for tests that are wrong on purpose. */
    failuresPerSecond: read.optionalInteger('LLM0_TEST_FAILURES_PER_SECOND', { min: 1, max: 1_000_000 }),
    /** Of an embedded Postgres that runs already, instead of starting one. */
    postgresSocket: read.text('LLM0_TEST_POSTGRES_SOCKET'),
    /** Deadlines of a warm look-up instead of 100 ms and a semantic one instead of 150 ms, for the same reason. */
    lookUpDeadlineMs: read.optionalInteger('LLM0_TEST_LOOK_UP_DEADLINE_MS', MS_RANGE),
    /** Pause of the log's drain after an incomplete batch instead of 250 ms and more. */
    lingerMs: read.optionalInteger('LLM0_TEST_LINGER_MS', MS_RANGE),
    /** First open period of a breaker instead of 5 s. */
    breakerMs: read.optionalInteger('LLM0_TEST_BREAKER_MS', MS_RANGE),
  };
}
