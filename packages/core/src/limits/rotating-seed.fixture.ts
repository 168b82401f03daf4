/** Another one in every run, so that a law is tried on new cases; TEST_SEED repeats the one that a failure printed. */
export function rotatingSeed(name: string): number {
  const given = process.env.TEST_SEED;
  const seed = given === undefined || given === '' ? Date.now() % 2 ** 31 : Number(given);
  if (!Number.isInteger(seed)) throw new Error(`TEST_SEED=${given}: a whole number is needed`);
  console.log(`${name}: TEST_SEED=${seed} repeats this run`);
  return seed;
}
