import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ReadTurns } from './read-turns';
import { nextTurn } from './time-slices';

/** A body whose every piece is there already, and how many of its pieces were read. */
function begin(turns: ReadTurns) {
  const turn = turns.begin();
  let reads = 0;
  const read = async () => {
    reads += 1;
    return reads;
  };
  return { turn, read: () => turn.read(read), reads: () => reads };
}

/** Bodies that have read once. The first read takes no turn: nothing is known of a body yet. */
async function open(turns: ReadTurns, count: number) {
  const bodies = Array.from({ length: count }, () => begin(turns));
  for (const { read } of bodies) await read();
  return bodies as [Body, Body, Body];
}
type Body = ReturnType<typeof begin>;

const settle = async () => {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
};

test('a body that is there already waits for a turn, which the next one gets at its end', async () => {
  const turns = new ReadTurns({ most: 1, leaseMs: 60_000 });
  const [first, second] = await open(turns, 2);
  await first.read();
  const waiting = second.read();
  await settle();
  await first.read();
  expect([first.reads(), second.reads()]).toEqual([3, 1]);
  first.turn.end();
  expect(await waiting).toBe(2);
});

test('bodies that each have a turn are read without a look at the others', async () => {
  const turns = new ReadTurns({ most: 2, leaseMs: 60_000 });
  const [first, second] = await open(turns, 2);
  for (const body of [first, second, first, second]) await body.read();
  expect([first.reads(), second.reads(), turns.isCrowded]).toEqual([3, 3, false]);
  const third = turns.begin();
  expect(turns.isCrowded).toBe(true);
  third.end();
  third.end();
  expect(turns.isCrowded).toBe(false);
});

test('a body that leaves as it arrives waits for nobody, and nobody for it', async () => {
  const turns = new ReadTurns({ most: 1, leaseMs: 60_000 });
  const slow = turns.begin();
  const [ready] = await open(turns, 1);
  const piece = Promise.withResolvers<string>();
  const reading = slow.read(() => piece.promise);
  await settle();
  await ready.read();
  piece.resolve('late');
  expect(await reading).toBe('late');
  const more = Promise.withResolvers<string>();
  const next = slow.read(() => more.promise);
  await settle();
  more.resolve('later');
  expect(await next).toBe('later');
});

test('a turn ends after its lease if others wait, even if its holder reads no more', async () => {
  const turns = new ReadTurns({ most: 1, leaseMs: 5 });
  const [first, second] = await open(turns, 2);
  await first.read();
  expect(await second.read()).toBe(2);
  expect(await first.read()).toBe(3);
});

test('a body that ends while it waits leaves its place', async () => {
  const turns = new ReadTurns({ most: 1, leaseMs: 60_000 });
  const [first, gone, last] = await open(turns, 3);
  await first.read();
  const [cancelled, waiting] = [gone.read(), last.read()];
  await settle();
  gone.turn.end();
  await cancelled;
  first.turn.end();
  expect(await waiting).toBe(2);
});

test('any order of reads and ends leaves all turns free', async () => {
  const steps = fc.array(fc.record({ body: fc.nat(4), isEnd: fc.boolean() }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (given, most) => {
      const turns = new ReadTurns({ most, leaseMs: 1 });
      const bodies = await open(turns, 5);
      const running = bodies.map(() => Promise.resolve(0));
      for (const { body, isEnd } of given) {
        if (isEnd) bodies[body]?.turn.end();
        else running[body] = (running[body] as Promise<number>).then(() => bodies[body]?.read() ?? 0);
        await nextTurn();
      }
      for (const { turn } of bodies) turn.end();
      await Promise.all(running);
      const fresh: readonly Body[] = await open(turns, most);
      expect(await Promise.all(fresh.map(({ read }) => read()))).toEqual(fresh.map(() => 2));
      for (const { turn } of fresh) turn.end();
    }),
    { numRuns: 40 },
  );
});
