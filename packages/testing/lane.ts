/** Set by `bun run test --all`. */
export const ALL_VARIABLE = 'LLM0_TEST_ALL';

export const isAll = process.env[ALL_VARIABLE] === '1';

/** Set for nightly files. */
export const NIGHTLY_VARIABLE = 'LLM0_TEST_NIGHTLY';

/** Throws in a daily test, which never waits for a download. */
export function expectNightly(download: string): void {
  if (process.env.NODE_ENV !== 'test' || process.env[NIGHTLY_VARIABLE] === '1') return;
  throw new Error(`only a nightly test downloads ${download}: name the file *.nightly.test.ts`);
}

/** How often a property with a random seed runs: a fifth of it daily. RUNS sets another number. */
export const runs = (most: number): number => Number(process.env.RUNS ?? (isAll ? most : Math.ceil(most / 5)));

/** The kind of stores that this process tests, of a file on both; absent = both. */
export const KIND_VARIABLE = 'LLM0_TEST_KIND';
