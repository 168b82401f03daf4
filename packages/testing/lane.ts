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

/** All cases with `--all`, else every n-th and the last, where the rest differs by position alone. */
export function everyNth<T>(n: number, cases: readonly T[]): readonly T[] {
  if (isAll) return cases;
  return cases.filter((_, index) => index % n === 0 || index === cases.length - 1);
}

/** How often a property with a random seed runs: a fifth of it daily. RUNS sets another number. */
export const runs = (most: number): number => Number(process.env.RUNS ?? (isAll ? most : Math.ceil(most / 5)));
