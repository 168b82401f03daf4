import { expect, test } from 'bun:test';

test('waiting expectations are not sleeping loops', async () => {
  const far = setTimeout(() => {}, 5_000);
  const work = async () => {
    await Bun.sleep(5);
    await new Promise((resolve) => setImmediate(resolve));
    throw new SyntaxError('late');
  };
  const startMs = performance.now();
  for (let time = 0; time < 10; time++) await expect(work()).rejects.toThrow(SyntaxError);
  clearTimeout(far);
  // Each took 0.6 s.
  expect(performance.now() - startMs).toBeLessThan(2_500);
});
